import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { AuthMetadataService } from "@flyte-ts/idl/flyteidl/service/auth_pb";
import { DataProxyService } from "@flyte-ts/idl/flyteidl/service/dataproxy_pb";
import { IdentityService } from "@flyte-ts/idl/flyteidl/service/identity_pb";
import { SignalService } from "@flyte-ts/idl/flyteidl/service/signal_pb";
import { createClient, openChannel, type ChannelOptions, type ServiceClient } from "@flyte-ts/rpc";

/** Clients of all services of one Flyte endpoint, over one connection. */
export interface FlyteClient {
  readonly admin: ServiceClient<typeof AdminService>;
  readonly dataProxy: ServiceClient<typeof DataProxyService>;
  readonly signals: ServiceClient<typeof SignalService>;
  readonly identity: ServiceClient<typeof IdentityService>;
  readonly authMetadata: ServiceClient<typeof AuthMetadataService>;
  /** Resolves when connected; rejects with UNAVAILABLE after `timeoutMs`. */
  ready(timeoutMs: number): Promise<void>;
  /** Aborts running calls. */
  close(): void;
}

/**
 * Creates a client of a Flyte control plane. It connects on the first call, and reconnects after a
 * loss.
 */
export function createFlyteClient(options: ChannelOptions): FlyteClient {
  const channel = openChannel(options);
  return {
    admin: createClient({ channel, service: AdminService }),
    dataProxy: createClient({ channel, service: DataProxyService }),
    signals: createClient({ channel, service: SignalService }),
    identity: createClient({ channel, service: IdentityService }),
    authMetadata: createClient({ channel, service: AuthMetadataService }),
    ready: (timeoutMs) => channel.ready(timeoutMs),
    close: () => channel.close(),
  };
}
