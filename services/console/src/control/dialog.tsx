import { lazy, type ReactNode, Suspense } from "react";

const DialogPopup = lazy(() => import("./dialog-popup.js").then(({ DialogPopup: component }) => ({ default: component })));

export interface DialogProps {
  readonly title: string;
  readonly children: ReactNode;
  readonly wide?: boolean;
  onClose(): void;
}

/** Dialog above the page, while it is rendered. Its code is loaded when it is needed. */
export function Dialog(props: DialogProps) {
  return (
    <Suspense>
      <DialogPopup {...props} />
    </Suspense>
  );
}
