"""Listings of folders that can hold hidden files are found, those of folders that were handed over are not."""

from __future__ import annotations

import pytest

from rollout.verifiers._reaching_folders import folders_listed


@pytest.mark.parametrize(
    "code",
    [
        "const fs = require('fs')\nfs.readdirSync('data')",
        "import { readdirSync } from 'node:fs'\nfor (const f of readdirSync('data')) g(f)",
        "const fs = require('fs')\nconst s = fs.readdirSync(__dirname).filter(g)",
        "import fs from 'fs/promises'\nawait fs.readdir(process.cwd())",
        "const fs = require('fs')\nconst D = 'data'\nfs.readdirSync(D)",
        "import { globSync } from 'glob'\nglobSync('**/*.json')",
        "const all = import.meta.glob('./data/*.json')",
        (
            "const fs = require('fs')\n"
            "function walk (dir) { for (const e of fs.readdirSync(dir)) walk(path.join(dir, e)) }\nwalk(__dirname)"
        ),
        "const fs = require('fs')\nconst walk = (dir) => { return fs.readdirSync(dir) }\nwalk('data')",
        "const fs = require('fs')\nconst walk = (dir) => fs.readdirSync(dir)\nwalk('data')",
        "const fs = require('fs')\nconst walk = dir => fs.readdirSync(dir)\nwalk('data')",
        "const fs = require('fs')\nfs.readdirSync(path.join('plugins', '..', x))",
        "const fs = require('fs')\nconst list = fs.readdirSync\nlist('data')",
        "const fs = require('fs')\nconst read = () => fs.readdirSync(path.join(__dirname, 'data'))",
    ],
)
def test_a_listing_that_may_find_what_is_hidden(code: str) -> None:
    assert folders_listed(code, {"data"})


@pytest.mark.parametrize(
    "code",
    [
        "const fs = require('fs')\nexports.list = (dir) => fs.readdirSync(dir).sort()",
        "import { readdirSync } from 'fs'\nexport function list (dir, { deep } = {}) { return readdirSync(dir) }",
        (
            "const fs = require('fs')\n"
            "function walk (dir) { for (const e of fs.readdirSync(dir)) walk(path.join(dir, e)) }\nexports.walk = walk"
        ),
        (
            "const fs = require('fs')\n"
            "class S { constructor (d) { this.d = d } list () { return fs.readdirSync(this.d) } }"
        ),
        "const fs = require('fs')\nconst D = fs.mkdtempSync(path.join(os.tmpdir(), 'x'))\nfs.readdirSync(D)",
        (
            "const { readdir } = require('fs/promises')\n"
            "module.exports = async (root = '.') => (await readdir(path.join(root, 'src'))).length"
        ),
        "const fs = require('fs')\nfs.readdirSync(path.join(__dirname, 'plugins'), { encoding: 'utf8' })",
        "const glob = (p) => new RegExp(p); glob('*.js')",
    ],
)
def test_an_honest_listing(code: str) -> None:
    assert folders_listed(code, {"data"}) == []
