import { Outlet, useRouterState } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { Toasts } from "../control/toasts.js";
import { useApp } from "../app/app.js";
import styles from "./frame.module.css";
import { FrameKeys } from "./frame-keys.js";
import { Navigation } from "./navigation-bar.js";
import { Palette } from "./palette-dialog.js";
import { KeysDialog } from "./keys-dialog.js";
import { SessionBar } from "./session-bar.js";
import { TopBar } from "./top-bar.js";
import { useMaybeScope } from "./use-scope.js";

type Overlay = "palette" | "keys" | undefined;

/** Navigation, bar and page: they stand at once, and data come into them. */
export function Frame() {
  const { preferences } = useApp();
  const scope = useMaybeScope();
  const [overlay, setOverlay] = useState<Overlay>();
  const { project, domain } = scope ?? {};
  useEffect(() => {
    if (project !== undefined && domain !== undefined) preferences.set({ scope: { project, domain } });
  }, [preferences, project, domain]);
  return (
    <div className={styles.frame}>
      <a href="#main" className={styles.skip}>
        Skip to the content
      </a>
      <Navigation scope={scope} />
      <TopBar scope={scope} onSearch={() => setOverlay("palette")} />
      <Main />
      <Toasts />
      <FrameKeys scope={scope} onSearch={() => setOverlay("palette")} onKeys={() => setOverlay("keys")} />
      {overlay === "palette" && <Palette scope={scope} onKeys={() => setOverlay("keys")} onClose={() => setOverlay(undefined)} />}
      {overlay === "keys" && <KeysDialog onClose={() => setOverlay(undefined)} />}
    </div>
  );
}

/** Content. It takes the focus when another page opens, and is read from its beginning. */
function Main() {
  const main = useRef<HTMLElement>(null);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const [shown, setShown] = useState(path);
  useEffect(() => {
    if (path === shown) return;
    setShown(path);
    main.current?.focus({ preventScroll: true });
  }, [path, shown]);
  return (
    <main id="main" ref={main} className={styles.main} tabIndex={-1}>
      <SessionBar />
      <div className={styles.page}>
        <Outlet />
      </div>
    </main>
  );
}
