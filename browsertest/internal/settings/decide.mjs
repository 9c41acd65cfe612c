// Returns, by sandbox-runtime's own code, which files and hosts a settings file allows.
//
//   stdin:  [{"settings": {…}, "reads": ["a/b"], "writes": ["a/b"], "hosts": ["example.com:443"]}]
//   stdout: [{"error": "…"} or {"reads": [true], "writes": [true], "hosts": [true]}]
//
// Files are decided by the profile that the package makes for macOS. There globs stay globs, while on Linux
// they are replaced by the files on the disk. This script evaluates the profile: of its rules, the last one
// that matches an operation and a path decides, as in sandbox-exec. Hosts are decided by the package's own
// matching, in the order of filterNetworkRequest (sandbox-manager.js), without a user to ask.
import { mkdtempSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { tmpdir } from 'node:os'
import { pathToFileURL } from 'node:url'

const root = mkdtempSync(join(tmpdir(), 'srt-'))
const folder = join(root, 'folder')
mkdirSync(folder)
mkdirSync(join(root, 'home'))
process.env.HOME = join(root, 'home')
process.on('exit', () => rmSync(root, { recursive: true, force: true }))
process.chdir(folder)
Object.defineProperty(process, 'platform', { value: 'darwin' }) // before the package reads it

const load = (/** @type {string} */ name) => import(pathToFileURL(join(process.argv[2], 'dist', name)).href)
const { SandboxManager, SandboxRuntimeConfigSchema } = await load('index.js')
const { wrapCommandWithSandboxMacOS } = await load('sandbox/macos-sandbox-utils.js')
const { matchesDomainPatternWithPort } = await load('sandbox/domain-pattern.js')
const { canonicalizeHost, isValidHost } = await load('sandbox/parent-proxy.js')

/** Returns the profile in a shell command: the argument after -p. */
function profileOf(/** @type {string} */ command) {
  const at = command.indexOf('(version 1)')
  if (at < 0) throw new Error('no profile in ' + command.slice(0, 200))
  return command.slice(at).replaceAll(`'"'"'`, '\u0001').split("'")[0].replaceAll('\u0001', "'")
}

/** Returns a profile as nested arrays. Strings stay JSON. */
function parse(/** @type {string} */ text) {
  const tokens = text.replace(/^;.*$/gm, '').match(/[()]|"(?:[^"\\]|\\.)*"|[^\s()"]+/g) ?? []
  let i = 0
  const list = () => {
    /** @type {any[]} */
    const out = []
    while (i < tokens.length && tokens[i] !== ')') out.push(tokens[i++] === '(' ? list() : tokens[i - 1])
    i++
    return out
  }
  return list()
}

/** @param {any} f @param {string} path @returns {boolean} */
function matches(f, path) {
  const text = () => JSON.parse(f[1])
  switch (f[0]) {
    case 'subpath': return text() === '/' || path === text() || path.startsWith(text() + '/')
    case 'literal': return path === text()
    case 'regex': return new RegExp(text()).test(path)
    case 'require-all': return f.slice(1).every((/** @type {any} */ x) => matches(x, path))
    case 'require-any': return f.slice(1).some((/** @type {any} */ x) => matches(x, path))
    case 'require-not': return !matches(f[1], path)
    case 'vnode-type': return false // files only
    default: throw new Error('a filter that the reader does not know: ' + JSON.stringify(f))
  }
}

/** @param {any[]} rules @param {string} op @param {string} path */
function decide(rules, op, path) {
  let allowed = false
  for (const [action, ...rest] of rules) {
    if (action !== 'allow' && action !== 'deny') continue
    const ops = rest.filter((/** @type {any} */ x) => typeof x === 'string')
    if (!ops.some((/** @type {string} */ o) => o === 'default' || o === op || (o.endsWith('*') && op.startsWith(o.slice(0, -1))))) continue
    const filters = rest.filter((/** @type {any} */ x) => Array.isArray(x) && x[0] !== 'with')
    if (filters.length === 0 || filters.some((/** @type {any} */ f) => matches(f, path))) allowed = action === 'allow'
  }
  return allowed
}

/** @param {any} network @param {string} hostport */
function host(network, hostport) {
  const m = /^(.*?)(?::(\d+))?$/.exec(hostport)
  const name = m?.[1] ?? '', port = Number(m?.[2] ?? 443)
  if (!isValidHost(name)) return false
  const canonical = canonicalizeHost(name) ?? name
  if (network.deniedDomains.some((/** @type {string} */ d) => matchesDomainPatternWithPort(canonical, port, d))) return false
  return network.allowedDomains.some((/** @type {string} */ d) => matchesDomainPatternWithPort(canonical, port, d))
}

// The package runs the program which to find its shell, once for each setting, with a limit of a second,
// which a loaded machine exceeds. Under Bun it calls this function. No shell runs here.
// @ts-ignore
globalThis.Bun = { which: (/** @type {string} */ name) => `/bin/${name}` }

const answers = []
for (const { settings, reads = [], writes = [], hosts = [] } of JSON.parse(readFileSync(0, 'utf8'))) {
  const parsed = SandboxRuntimeConfigSchema.safeParse(settings)
  if (!parsed.success) {
    answers.push({ error: parsed.error.message })
    continue
  }
  SandboxManager.updateConfig(parsed.data)
  const rules = parse(profileOf(wrapCommandWithSandboxMacOS({
    command: 'true', needsNetworkRestriction: false, allowGitConfig: parsed.data.filesystem.allowGitConfig ?? false,
    readConfig: SandboxManager.getFsReadConfig(), writeConfig: SandboxManager.getFsWriteConfig(),
  })))
  const at = (/** @type {string} */ p) => (p === '.' ? folder : join(folder, p))
  answers.push({
    reads: reads.map((/** @type {string} */ p) => decide(rules, 'file-read-data', at(p))),
    writes: writes.map((/** @type {string} */ p) => decide(rules, 'file-write-data', at(p))),
    hosts: hosts.map((/** @type {string} */ h) => host(parsed.data.network, h)),
  })
}
process.stdout.write(JSON.stringify(answers))
