import type { ExecutionKey } from "../../api/scope.js";
import type { MenuItem } from "../../control/menu.js";
import type { ToastStore } from "../../session/toast-store.js";

/** Ways to name an execution elsewhere: each copies a text. */
export function copyItems(key: ExecutionKey, toasts: ToastStore): readonly MenuItem[] {
  return Object.entries(copyTexts(key, location.origin)).map(([text, copied]) => ({
    id: text,
    text,
    run: () =>
      void navigator.clipboard.writeText(copied).then(
        () => toasts.show({ kind: "ok", text: `Copied ${text}` }),
        () => toasts.show({ kind: "bad", text: "The browser does not let the page copy" }),
      ),
  }));
}

/** Texts that name an execution, by the title of each. */
export function copyTexts({ project, domain, name }: ExecutionKey, origin: string): Readonly<Record<string, string>> {
  const path = [project, domain, name].map((part) => encodeURIComponent(part)).join("/");
  return {
    Name: name,
    Link: `${origin}/console/projects/${encodeURIComponent(project)}/domains/${encodeURIComponent(domain)}/executions/${encodeURIComponent(name)}`,
    flytectl: `flytectl get execution -p ${project} -d ${domain} ${name} --details`,
    Python: `remote.fetch_execution(project=${JSON.stringify(project)}, domain=${JSON.stringify(domain)}, name=${JSON.stringify(name)})`,
    curl: `curl ${origin}/api/v1/executions/${path}`,
  };
}
