/** Minimal browser for logins: it stores cookies, and follows redirects only in `follow`. */
export interface Browser {
  get(url: string): Promise<Response>;
  post(url: string, form: Readonly<Record<string, string>>): Promise<Response>;
  /** Follows redirects within the site; returns the last response. */
  follow(url: string): Promise<{ readonly url: string; readonly response: Response }>;
  readonly cookies: ReadonlyMap<string, string>;
}

/** `site` is the public URL of the service, `base` its real address. */
export function browserOf({ site, base }: { readonly site: string; readonly base: string }): Browser {
  const cookies = new Map<string, string>();
  const send = async (url: string, init: { readonly method?: string; readonly body?: URLSearchParams } = {}): Promise<Response> => {
    const full = new URL(url, site).href.replace(site, base);
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(full, { ...init, redirect: "manual", headers: cookie === "" ? {} : { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "" || /expires=Thu, 01 Jan 1970/i.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    return response;
  };
  const get = (url: string): Promise<Response> => send(url);
  return {
    cookies,
    get,
    post: (url, form) => send(url, { method: "POST", body: new URLSearchParams(form) }),
    follow: async (start) => {
      let url = start;
      for (let steps = 0; steps < 10; steps++) {
        if (!new URL(url, site).href.startsWith(site)) return { url, response: new Response(null, { status: 204 }) };
        const response = await get(url);
        const next = response.headers.get("location");
        if (next === null) return { url, response };
        url = new URL(next, site).href;
      }
      throw new Error(`${start} leads round in circles`);
    },
  };
}
