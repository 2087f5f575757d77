import type { PreferenceStore } from "../session/preferences.js";

/** Sets the theme that the user chose, at once and with each change. */
export function followTheme(preferences: PreferenceStore, element: HTMLElement): void {
  const apply = (): void => {
    const { theme } = preferences.get();
    if (theme === "system") delete element.dataset["theme"];
    else element.dataset["theme"] = theme;
  };
  apply();
  preferences.subscribe(apply);
}
