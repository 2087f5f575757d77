import { Link } from "@tanstack/react-router";
import type { Scope } from "../api/scope.js";
import { Icon, type IconName } from "../control/icon.js";
import { Menu } from "../control/menu.js";
import { Key } from "../control/pill.js";
import { useApp, usePreferences } from "../app/app.js";
import type { ThemeChoice } from "../session/preferences.js";
import { Breadcrumb } from "./breadcrumb.js";
import { LiveMark } from "./live-mark.js";
import styles from "./top-bar.module.css";

const THEMES: Readonly<Record<ThemeChoice, { readonly text: string; readonly icon: IconName }>> = {
  system: { text: "As the system", icon: "screen" },
  light: { text: "Light", icon: "sun" },
  dark: { text: "Dark", icon: "moon" },
};

/** Breadcrumb, search, state of the connection, time zone and theme. */
export function TopBar({ scope, onSearch }: { readonly scope: Scope | undefined; onSearch(): void }) {
  return (
    <header className={styles.bar}>
      <Breadcrumb scope={scope} />
      <button type="button" className={styles.search} onClick={onSearch}>
        <Icon name="search" small />
        <span className={styles.text}>Search or jump to…</span>
        <span className={styles.key}>
          <Key>⌘K</Key>
        </span>
      </button>
      <LiveMark />
      <span className={styles.menus}>
        <ZoneMenu />
        <ThemeMenu />
      </span>
      <Link to="/projects" className={styles.projects} aria-label="Projects" title="Projects">
        <Icon name="box" />
      </Link>
    </header>
  );
}

function ZoneMenu() {
  const { preferences } = useApp();
  const { zone } = usePreferences();
  const item = (id: string, text: string, note?: string) => ({
    id,
    text,
    ...(note !== undefined && { note }),
    checked: zone === id,
    run: () => preferences.set({ zone: id }),
  });
  const items = () => [item("local", "Local time", new Intl.DateTimeFormat().resolvedOptions().timeZone), item("UTC", "UTC")];
  return <Menu label="Time zone" icon="clock" items={items} />;
}

function ThemeMenu() {
  const { preferences } = useApp();
  const { theme } = usePreferences();
  const items = Object.entries(THEMES).map(([id, { text, icon }]) => ({
    id,
    text,
    icon,
    checked: theme === id,
    run: () => preferences.set({ theme: id as ThemeChoice }),
  }));
  return <Menu label="Theme" icon={THEMES[theme].icon} items={items} />;
}
