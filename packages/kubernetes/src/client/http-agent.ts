import type { Agent, Dispatcher } from "undici";
// Two modules of the package: its main module also loads fetch, WebSockets, caches and mocks, which
// takes 50 ms of processor time in each service.
import AgentModule from "undici/lib/dispatcher/agent.js";
import requestModule from "undici/lib/api/api-request.js";

export type HttpAgent = Agent;

export const createHttpAgent = (options: Agent.Options): HttpAgent => new AgentModule(options);

/** Sends a request by the agent. Rejects when no answer comes. */
export const sendRequest = (agent: HttpAgent, options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData> =>
  requestModule.call(agent, options);
