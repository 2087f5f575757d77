import { type PointerEvent, useRef } from "react";
import { useDrawing, useSize } from "../timeline/hook/use-canvas.js";
import { drawMinimap, minimapCamera } from "./canvas/draw-minimap.js";
import type { GraphColours } from "./canvas/graph-frame.js";
import type { GraphState } from "./hook/use-graph.js";
import styles from "./graph.module.css";

/** The whole graph, small; a click or a drag moves to a place. */
export function Minimap({ graph, colours }: { readonly graph: GraphState; readonly colours: GraphColours }) {
  const area = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSize(area);
  const { shown, camera, size: view } = graph;
  useDrawing(canvas, size, (context) => {
    if (shown === undefined) return;
    const { scene, states } = shown;
    drawMinimap(context as CanvasRenderingContext2D, { scene, states, camera: camera.camera, colours, view, size });
  });
  const move = (event: PointerEvent<HTMLDivElement>): void => {
    if (shown === undefined || event.buttons === 0) return;
    const { left, top } = event.currentTarget.getBoundingClientRect();
    const map = minimapCamera(shown.scene, size);
    camera.centre(map.left + (event.clientX - left) / map.scale, map.top + (event.clientY - top) / map.scale);
  };
  return (
    <div
      ref={area}
      className={styles["minimap"]}
      aria-hidden="true"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        move(event);
      }}
      onPointerMove={move}
    >
      <canvas ref={canvas} />
    </div>
  );
}
