import type { JobState, RemoteJobs } from "./remote-jobs.fixture.js";
import type { Api } from "./stand-in-server.fixture.js";

const BATCH = /^\/v1\/batches\/([^/]+?)(\/cancel)?$/;
const STATES: Record<JobState, string> = {
  pending: "validating",
  running: "in_progress",
  succeeded: "completed",
  failed: "failed",
  cancelled: "cancelled",
};

interface ChatQuestion {
  readonly model: string;
  readonly messages: readonly [{ readonly content: string }];
}

/** OpenAI's chat and batches. The input file of a batch is the mode of its job. */
export function openAiApi(jobs: RemoteJobs): Api {
  const batch = (id: string) => {
    const state = jobs.read(id) ?? "failed";
    return {
      id,
      object: "batch",
      endpoint: "/v1/chat/completions",
      input_file_id: "file",
      completion_window: "24h",
      created_at: 1,
      status: STATES[state],
      ...(state === "failed" && { errors: { object: "list", data: [{ code: "bad_line", message: "line 7 of the file is no JSON" }] } }),
      ...(state === "succeeded" && { output_file_id: "file-out" }),
    };
  };
  return ({ path, body, headers }) => {
    if (!path.startsWith("/v1/")) return undefined;
    if (headers.authorization !== "Bearer openai-secret-key") return { status: 401, body: { error: { message: "a wrong key" } } };
    if (path === "/v1/chat/completions") {
      const { model, messages } = body as ChatQuestion;
      const { content } = messages[0];
      if (content === "fail")
        return { status: 400, body: { error: { message: "this question is not allowed", type: "invalid_request_error" } } };
      const message = { role: "assistant", content: `${model} of ${headers["openai-organization"]} heard ${content}` };
      return {
        body: {
          id: "c1",
          object: "chat.completion",
          created: 1,
          model,
          choices: [{ index: 0, message, finish_reason: "stop" }],
        },
      };
    }
    if (path === "/v1/batches") {
      const file = (body as { readonly input_file_id: string }).input_file_id;
      const id = `batch-${file}`;
      jobs.start(id, file);
      return { body: batch(id) };
    }
    const [, id, cancel] = BATCH.exec(path) ?? [];
    if (id === undefined) return undefined;
    if (cancel !== undefined) jobs.cancel(id);
    return { body: batch(id) };
  };
}
