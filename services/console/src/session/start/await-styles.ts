type StyledPage = Pick<Document, "readyState" | "querySelectorAll"> & Pick<EventTarget, "addEventListener">;

/**
 * Resolves when the page is parsed and its style sheets are loaded: what is drawn before is
 * measured without them, and drawn again.
 */
export async function awaitStyles(page: StyledPage, view: Pick<EventTarget, "addEventListener">): Promise<void> {
  if (page.readyState === "loading") await eventOf(page, "DOMContentLoaded");
  if (page.readyState === "complete") return;
  const pending = [...page.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"]')].filter(({ sheet }) => sheet === null);
  // A sheet that has failed before is pending for ever: the load of the page ends the wait.
  const sheets = Promise.all(pending.map((link) => Promise.race([eventOf(link, "load"), eventOf(link, "error")])));
  await Promise.race([sheets, eventOf(view, "load")]);
}

function eventOf(target: Pick<EventTarget, "addEventListener">, name: string): Promise<unknown> {
  return new Promise((resolve) => target.addEventListener(name, resolve, { once: true }));
}
