import { expect, test } from "vitest";
import { createKeyMap, type KeyAct } from "./key-map.js";

const done: string[] = [];
const act = (keys: string, name = keys): KeyAct => ({ keys, label: name, group: "List", run: () => void done.push(name) });
const press = (map: ReturnType<typeof createKeyMap>, key: string, { mod = false, typing = false, timeMs = 0 } = {}) => {
  done.length = 0;
  return [map.press({ key, mod, typing, timeMs }), ...done];
};

test("keys run their acts; a sequence needs its second key in time", () => {
  const map = createKeyMap();
  map.add([act("j"), act("g e"), act("mod+k"), act("e")]);
  expect(press(map, "j")).toEqual([true, "j"]);
  expect(press(map, "g")).toEqual([false]);
  expect(press(map, "e", { timeMs: 1_000 })).toEqual([true, "g e"]);
  expect(press(map, "e", { timeMs: 1_100 })).toEqual([true, "e"]);
  press(map, "g", { timeMs: 2_000 });
  expect(press(map, "e", { timeMs: 4_000 })).toEqual([true, "e"]);
  expect(press(map, "z")).toEqual([false]);
});

test("a key with an act of its own may begin a sequence", () => {
  const map = createKeyMap();
  map.add([act("t"), act("t g"), act("g e"), act("e")]);
  expect(press(map, "t")).toEqual([true, "t"]);
  expect(press(map, "g")).toEqual([true, "t g"]);
  expect(press(map, "e")).toEqual([true, "e"]);
});

test("letters belong to a field while one types; ⌘K does not", () => {
  const map = createKeyMap();
  map.add([act("j"), act("mod+k")]);
  expect(press(map, "j", { typing: true })).toEqual([false]);
  expect(press(map, "K", { typing: true, mod: true })).toEqual([true, "mod+k"]);
});

test("acts of a page precede those of the frame until they are removed", () => {
  const map = createKeyMap();
  map.add([act("t", "frame")]);
  const remove = map.add([act("t", "page")]);
  expect(press(map, "t")).toEqual([true, "page"]);
  remove();
  expect(press(map, "t")).toEqual([true, "frame"]);
});
