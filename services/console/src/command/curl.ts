import type { LaunchFacts } from "./launch-facts.js";
import { requestJson } from "./request-json.js";
import { hereDocument, quote } from "./shell.js";

/** Formats a launch as a call of the REST interface; with sign-in it needs a token. */
export function curlCommand({ origin, request }: LaunchFacts, isSignedIn: boolean): string {
  const token = isSignedIn ? ` \\\n  -H "authorization: Bearer $FLYTE_TS_TOKEN"` : "";
  return `curl --fail-with-body ${quote(`${origin}/api/v1/executions`)} \\\n  -H 'content-type: application/json'${token} \\\n  --data-binary @- ${hereDocument(requestJson(request))}`;
}
