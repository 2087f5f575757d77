import { useRef, useState } from "react";
import { afterFrame } from "../timeline/canvas/after-frame.js";
import { useDrawing } from "../timeline/hook/use-canvas.js";
import { useGestures } from "../timeline/hook/use-gestures.js";
import { drawGraph } from "./canvas/draw-graph.js";
import { hitAt } from "./canvas/hit.js";
import type { GraphProps } from "./graph-props.js";
import type { GraphState } from "./hook/use-graph.js";
import styles from "./graph.module.css";

/** Zoom of a click on nodes that are too small to see. */
const CLICK_ZOOM = 3;
/** Frames that took longer have the next drawn with less detail. */
const SLOW_FRAME_MS = 24;
const FAST_FRAME_MS = 14;
const LEAST_DETAIL = 0.25;

interface GraphCanvasProps extends Pick<GraphProps, "colours" | "nowMs" | "durationText"> {
  readonly area: React.RefObject<HTMLDivElement | null>;
  readonly graph: GraphState;
}

/** Drawing of a graph; the list says the same in words. */
export function GraphCanvas({ area, graph, colours, nowMs, durationText }: GraphCanvasProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const detail = useRef(1);
  const [isOver, setIsOver] = useState(false);
  const { shown, adjacency, size, camera, current, selected, hovered } = graph;
  useGestures(area, {
    onPan: camera.pan,
    onZoom: camera.zoom,
    onZoomRows: () => undefined,
    onClick: (x, y) => {
      const hit = shown && hitAt(shown.scene, camera.camera, { x, y });
      if (hit === undefined) return graph.shown !== undefined && camera.camera.scale < SMALL ? camera.zoom(CLICK_ZOOM, x, y) : undefined;
      if (hit.isTwist) graph.expand(hit.node);
      else graph.select(hit.node);
    },
    onHover: (point) => {
      const hit = point && shown && hitAt(shown.scene, camera.camera, point);
      graph.setHovered(hit?.node ?? -1);
      setIsOver(hit !== undefined);
    },
  });
  useDrawing(canvas, size, (context) => {
    if (shown === undefined || adjacency === undefined) return;
    const { scene, states } = shown;
    const start = performance.now();
    const view = { camera: camera.camera, current, selected, hovered, nowMs, durationText, colours, detail: detail.current };
    drawGraph(context as CanvasRenderingContext2D, { ...size, scene, states, adjacency, ...view });
    afterFrame(() => {
      const tookMs = performance.now() - start;
      if (tookMs > SLOW_FRAME_MS) detail.current = Math.max(detail.current / 1.5, LEAST_DETAIL);
      else if (tookMs < FAST_FRAME_MS) detail.current = Math.min(detail.current * 1.1, 1);
    });
  });
  return (
    <div ref={area} className={styles["canvas"]} data-over={isOver} aria-hidden="true">
      <canvas ref={canvas} />
    </div>
  );
}

/** Zoom below which nodes cannot be clicked. */
const SMALL = 0.1;
