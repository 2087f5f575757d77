import { type RefObject, useEffect, useEffectEvent, useRef, useState } from "react";
import { useStore } from "../../app/use-store.js";
import { useSize } from "../../timeline/hook/use-canvas.js";
import type { GraphProps } from "../graph-props.js";
import { adjacencyOf } from "../layout/adjacency.js";
import { nodeKind, nodeName } from "../scene/node-words.js";
import { findPath, scenePath } from "../scene/paths.js";
import { SceneFlag } from "../scene/scene.js";
import { firstNode } from "../scene/walk.js";
import { useCamera } from "./use-camera.js";

/** Holds the state of a graph: its part in sight, and the node that keys start from. */
export function useGraph({ client, selected, onSelect }: GraphProps, area: RefObject<HTMLDivElement | null>) {
  const shown = useStore(client.shown);
  const [currentPath, setCurrentPath] = useState<string | undefined>();
  const [chosenPath, setChosenPath] = useState<string | undefined>();
  const [hovered, setHovered] = useState(-1);
  const size = useSize(area);
  const scene = shown?.scene;
  const camera = useCamera(scene, size);
  const adjacency = scene && adjacencyOf(scene.length, scene);
  const current = scene === undefined ? -1 : findPath(scene, currentPath);
  // A node that has not begun has no id in the execution, and is known by its path.
  const selectedNode =
    shown === undefined ? -1 : selected === undefined ? findPath(shown.scene, chosenPath) : shown.states.ids.indexOf(selected);
  const anchor = useRef({ x: 0, y: 0 });
  const settle = useEffectEvent(() => {
    if (shown === undefined || scene === undefined || shown.focus < 0) return;
    const [x, y] = [scene.x[shown.focus] as number, scene.y[shown.focus] as number];
    camera.shift(x - anchor.current.x, y - anchor.current.y);
    setCurrentPath(scenePath(scene, shown.focus));
  });
  const version = scene?.version;
  useEffect(() => settle(), [version]);
  const goTo = (node: number, isClose = true): void => {
    if (scene === undefined || node < 0) return;
    setCurrentPath(scenePath(scene, node));
    camera.reveal(node, isClose);
  };
  const select = (node: number): void => {
    if (shown === undefined || scene === undefined) return;
    const path = scenePath(scene, node);
    setCurrentPath(path);
    setChosenPath(path);
    onSelect({ id: shown.states.ids[node] as string, name: nodeName(scene, node), kind: nodeKind(scene, node), path });
  };
  const expand = (node: number): void => {
    if (scene === undefined) return;
    const flags = scene.flags[node] as number;
    if ((flags & SceneFlag.opens) === 0) return select(node);
    anchor.current = { x: scene.x[node] as number, y: scene.y[node] as number };
    client.expand(node, (flags & SceneFlag.open) === 0);
  };
  return {
    shown,
    adjacency,
    size,
    camera,
    current: current === -1 && scene !== undefined && scene.length > 0 && currentPath !== undefined ? firstNode(scene) : current,
    selected: selectedNode,
    hovered,
    setHovered,
    goTo,
    select,
    expand,
  };
}

export type GraphState = ReturnType<typeof useGraph>;
