import { FlyteApi } from "@flyte-ts/sdk/api";

/** Returns a function that returns the metadata of a call: the token of `FlyteApi`, if any. */
export function callMetadata(endpoint: string): () => Promise<Record<string, string>> {
  const api = new FlyteApi({ endpoint }, process.env);
  return async (): Promise<Record<string, string>> => {
    const token = await api.token();
    return token === undefined ? {} : { authorization: `Bearer ${token}` };
  };
}
