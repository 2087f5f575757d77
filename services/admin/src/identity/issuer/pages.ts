/** Formats a page of the issuer, without scripts and external content. */
export function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title>
<style>body{font:16px system-ui,sans-serif;max-width:22rem;margin:4rem auto;padding:0 1rem}input,button{font:inherit;width:100%;box-sizing:border-box;padding:.5rem;margin:.25rem 0 1rem}.wrong{color:#b00020}</style>
</head><body><h1>${escapeHtml(title)}</h1>${body}</body></html>`;
}

/** Headers of every page: no frames, no scripts, no caching. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  "Content-Type": "text/html; charset=utf-8",
  "Cache-Control": "no-store",
  "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
  "X-Frame-Options": "DENY",
  // With no-referrer browsers would send `Origin: null` with the form.
  "Referrer-Policy": "same-origin",
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

export function loginPage({ client, wrong }: { readonly client: string; readonly wrong: string }): string {
  const warning = wrong === "" ? "" : `<p class="wrong" role="alert">${escapeHtml(wrong)}</p>`;
  return page(
    "Sign in",
    `<p>to Flyte, for <strong>${escapeHtml(client)}</strong></p>${warning}<form method="post"><label>Name<input name="name" autocomplete="username" autofocus required></label>
<label>Password<input name="password" type="password" autocomplete="current-password" required></label><button>Sign in</button></form>`,
  );
}

/**
 * Shown when the user has not just entered a password: any program of a computer may open this
 * page.
 */
export function consentPage({ client, name }: { readonly client: string; readonly name: string }): string {
  return page(
    "Go on?",
    `<p><strong>${escapeHtml(client)}</strong> on this computer will act for <strong>${escapeHtml(name)}</strong>.</p>
<form method="post"><button autofocus>Go on</button></form><p>Close this page if you have not asked for it.</p>`,
  );
}
