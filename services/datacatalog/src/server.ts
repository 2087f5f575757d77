import { BlobUnavailableError } from "@flyte-ts/blobstore";
import { DataCatalog } from "@flyte-ts/idl/flyteidl/datacatalog/datacatalog_pb";
import { CommitOutcomeUnknownError, isTransactionConflict, isUnavailable, isInvalidText } from "@flyte-ts/postgres";
import { Code, implement, type Interceptor, RpcError, type ServedService } from "@flyte-ts/rpc";
import { artifactRpcs } from "./artifact/rpc.js";
import { tagRpcs } from "./artifact/tag.js";
import { datasetRpcs } from "./dataset/rpc.js";
import type { DatacatalogDeps } from "./deps.js";
import { reservationRpcs } from "./reservation/rpc.js";

/** Lists all services of the data catalog. */
export function datacatalogServices(deps: DatacatalogDeps): ServedService[] {
  return [implement(DataCatalog, { ...datasetRpcs(deps), ...artifactRpcs(deps), ...tagRpcs(deps), ...reservationRpcs(deps) })];
}

/** Maps failures to transient or permanent status codes for callers. */
export const mapInfrastructureErrors: Interceptor = async ({ context }, next) => {
  try {
    return await next(context);
  } catch (cause) {
    if (isUnavailable(cause) || isTransactionConflict(cause) || cause instanceof CommitOutcomeUnknownError) {
      throw new RpcError(Code.UNAVAILABLE, "the database cannot be reached, try again", { cause });
    }
    if (cause instanceof BlobUnavailableError)
      throw new RpcError(Code.UNAVAILABLE, "the blob store cannot be reached, try again", { cause });
    if (isInvalidText(cause)) throw new RpcError(Code.INVALID_ARGUMENT, "invalid text: NUL characters are not allowed", { cause });
    throw cause;
  }
};
