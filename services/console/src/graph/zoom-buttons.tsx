import { IconButton } from "../control/button.js";
import type { CameraControl } from "./hook/use-camera.js";
import styles from "./graph.module.css";

/** Buttons that zoom, and how far it is zoomed. */
export function ZoomButtons({ camera }: { readonly camera: CameraControl }) {
  const percent = camera.camera.scale * 100;
  return (
    <div className={styles["zoom"]} role="group" aria-label="Zoom">
      <IconButton icon="plus" label="Zoom in" onClick={() => camera.step(true)} />
      <IconButton icon="minus" label="Zoom out" onClick={() => camera.step(false)} />
      <IconButton icon="expand" label="Show all" onClick={camera.fit} />
      <span className={styles["percent"]}>{percent >= 1 ? Math.round(percent) : percent.toPrecision(1)} %</span>
    </div>
  );
}
