/** Reports whether a URL answers with a success status within two seconds. */
export function respondsOk(url: string): Promise<boolean> {
  return fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
    async (response) => {
      await response.text();
      return response.ok;
    },
    () => false,
  );
}
