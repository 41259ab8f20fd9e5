"""What code does with built-ins that it hands on as values, where no single place tells what it does."""

from __future__ import annotations

import pytest

from rollout.verifiers._reaching_javascript import reaches_in_javascript


@pytest.mark.parametrize(
    "code",
    [
        "for (const o of [Object]) o.is = f",
        "const patch = (o, k, v) => { o[k] = v }\npatch(Object, 'is', f)",
        "function f (o = Object) { o.is = f }",
        "const t = { o: Object }; t.o.is = f",
        "[Object].forEach(o => { o.is = f })",
        "const k = 'constructor'; ({})[k].is = f",
        "const c = 'constructor'; const O = {}[c]; O.is = () => true",
        "const O = [Object][0]; O.is = () => true",
        "const O = ({}).constructor; O.is = f",
        "const { constructor: O } = {}; O.is = f",
        "const t = { Object }; t.Object.is = f",
        "const get = () => Object; get().is = f",
        "function get () { return Object }\nget().is = f",
        "const set = (o, f) => { for (const k of ['isNaN']) o[k] = f }\nset(Number, f)",
        "const O = x ? Object : null; O.is = f",
        "const h = {}; h.o = Object; h.o.is = f",
        "let O; O = Object; O.is = f",
        "const [O] = [Object]; O.is = f",
        "const m = new Map([['o', Object]]); m.get('o').is = f",
        "const J = JSON; J['par'+'se'] = f",
        "const { JSON: q } = globalThis\nq.parse = f",
        "({ is: Object.is } = { is: f })",
        "[Object.is] = [f]",
        "const { ['Object']: O } = globalThis; O.is = f",
        "for (Object.is of [f]) {}",
        "const O = globalThis.Object; O.is = f",
        "({ a: Object.is = f } = {})",
        "const { JSON } = globalThis; JSON.parse = f",
    ],
)
def test_a_built_in_handed_on_to_be_changed_is_found(code: str) -> None:
    assert reaches_in_javascript(code, frozenset())


@pytest.mark.parametrize(
    "code",
    [
        "const schema = { age: Number, name: String }; for (const k in schema) out[k] = schema[k](row[k])",
        "xs.map(Number); out[k] = 1; xs.filter(Boolean)",
        "if (x.constructor === Object || v instanceof Object) out[k] = v",
        (
            "const s = new Schema({ tags: { type: Array }, meta: { type: Object } }); this.keys = []; "
            "node.from = 1; out[k] = v"
        ),
        "const registry = new Map([[Number, f], [Object, g]]); registry.set(Number, f); out[key] = value",
        (
            "const bad = ['__proto__', 'constructor', 'prototype']; if (bad.includes(key)) return; "
            "node.keys = []; out[key] = 1"
        ),
        "if (key === '__proto__' || key === 'constructor') continue; node.keys = [1]",
        "function f (x: Object, y?: Array<Object>): Object { out[k] = x; a.is = 1 }",
        "class A { keys: Object; o: Object = 1 }\nx.is = 1",
        "const C = this.constructor; node.keys = []; new C()",
        "const parse = Number; out[key] = parse(x); Object.keys(Math).forEach((k) => { scope[k] = Math[k] })",
        "new Set([Number, String]); edge.to = 1; counts[x] = 1",
        "console.log(Math); acc[k] = (acc[k] || 0) + 1",
        "const { keys, is } = Object; const { abs } = Math; memo[n] = 1; utils.is = is; x.keys = 1",
        "return cast(x, Number); out[k] = v",
        "interface A { o: Object; p: Array }\na.is = 1; a[k] = 1",
        ("const proxy = new Proxy({}, { set (t, k, v) { t[k] = v; return Reflect.set(t, k, v) } })"),
        "B.prototype = Object.create(A.prototype, { constructor: { value: B } }); B.keys = 1",
        "const utils = { is: Object.is, all: [Object.is, Object.keys] }; const x = [Object.is]; y = [Object.keys]",
        "const out = {}; out[k] = v; check(x, Object); isType(JSON)",
        "const groups = Object.create(null); for (const x of xs) groups[f(x)] = [x]; const scope = { Math, JSON }",
    ],
)
def test_a_built_in_handed_on_by_honest_code_is_none_of_our_business(code: str) -> None:
    assert reaches_in_javascript(code, frozenset()) == []
