import { t, task, workflow } from "@flyte-ts/sdk";

const Point = t.object({ x: t.float, y: t.float }, { title: "Point" });
const Shape = t.object({ name: t.string, points: t.list(Point), tags: t.map(t.string) }, { title: "Shape" });

export const makeShape = task({ outputs: Shape }, () => ({
  name: "line",
  points: [
    { x: 0, y: 1 },
    { x: 2, y: 3 },
  ],
  tags: { colour: "red" },
}));
export const describePoint = task(
  { inputs: { point: Point, colour: t.string }, outputs: t.string },
  ({ point, colour }) => `${colour} ${point.x}/${point.y}`,
);

/** Refers to fields, items and entries within outputs, and binds lists and maps of references. */
export const attributes = workflow({ outputs: { point: t.string, y: t.float, names: t.list(t.string), byKey: t.map(t.string) } }, () => {
  const shape = makeShape();
  const point = describePoint({ point: shape.points[1]!, colour: shape.tags["colour"]! });
  return { point, y: shape.points[0]!.y, names: [shape.name, point], byKey: { first: shape.name } };
});
