import { lazy, Suspense } from "react";
import type { Scope } from "../api/scope.js";

export interface PaletteProps {
  readonly scope: Scope | undefined;
  onKeys(): void;
  onClose(): void;
}

const PalettePopup = lazy(() => import("./palette.js").then(({ PalettePopup: component }) => ({ default: component })));

/** Search for pages and acts. Its code is loaded when it is needed. */
export function Palette(props: PaletteProps) {
  return (
    <Suspense>
      <PalettePopup {...props} />
    </Suspense>
  );
}
