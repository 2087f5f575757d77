import type { Agent } from "@flyte-ts/idl/flyteidl/admin/agent_pb";
import { AgentMetadataService } from "@flyte-ts/idl/flyteidl/service/agent_pb";
import { Code, createClient, openChannel, RpcError, type ServiceImplementation } from "@flyte-ts/rpc";
import { missingArgument, notFound, type PlatformDeps } from "../platform/index.js";

type Deps = Pick<PlatformDeps, "config" | "logger">;

/** Agents that one connector reported, or its error. */
type EndpointAgents = { readonly agents: readonly Agent[] } | { readonly error: RpcError };

/** Lists connectors and their task types; queries every connector on each request. */
export function agentRpcs({ config, logger }: Deps): ServiceImplementation<typeof AgentMetadataService> {
  const listAll = () => Promise.all(config.agents.endpoints.map((endpoint) => listAgentsOf(endpoint, config.agents.timeoutMs)));
  return {
    /** Omits connectors that fail: an unavailable one does not hide the others. */
    async listAgents() {
      const listed = await listAll();
      for (const each of listed) if ("error" in each) logger.warn({ err: each.error }, "a connector does not list its task types");
      return { agents: agentsOf(listed) };
    },

    /**
     * @throws RpcError NOT_FOUND; UNAVAILABLE when a connector that may have it does not answer.
     */
    async getAgent({ name }) {
      if (name === "") throw missingArgument("name");
      const listed = await listAll();
      const agent = agentsOf(listed).find((each) => each.name === name);
      if (agent !== undefined) return { agent };
      const unreachable = listed.find((each) => "error" in each);
      if (unreachable !== undefined)
        throw new RpcError(Code.UNAVAILABLE, "a connector does not answer, try again", { cause: unreachable.error });
      throw notFound(`agent ${JSON.stringify(name)} not found`);
    },
  };
}

/** Sorts by name; among agents with equal names, such as replicas, keeps the first. */
function agentsOf(listed: readonly EndpointAgents[]): Agent[] {
  const byName = new Map<string, Agent>();
  for (const each of listed) {
    for (const agent of "agents" in each ? each.agents : []) if (!byName.has(agent.name)) byName.set(agent.name, agent);
  }
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Opens a connection per query: queries are rare. */
async function listAgentsOf(endpoint: string, deadlineMs: number): Promise<EndpointAgents> {
  const channel = openChannel({ endpoint, deadlineMs });
  try {
    return { agents: (await createClient({ channel, service: AgentMetadataService }).listAgents({})).agents };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return { error };
  } finally {
    channel.close();
  }
}
