// Reads the funding calls of a node with Node's fetch.
const env = process.env
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
let token

function delay(response, attempt) {
  const value = response.headers.get('retry-after')
  if (value === null) return 500 * 2 ** attempt
  const seconds = Number(value)
  return Number.isNaN(seconds) ? Math.max(0, new Date(value) - Date.now()) : seconds * 1000
}

async function send(url, options) {
  for (let attempt = 0; attempt < 6; attempt++) {
    let response, text
    try {
      response = await fetch(url, { ...options, signal: AbortSignal.timeout(20000) })
      text = await response.text()
    } catch {
      await sleep(500 * 2 ** attempt)
      continue
    }
    if (response.status === 429 || response.status >= 500) {
      await sleep(delay(response, attempt))
      continue
    }
    return { status: response.status, link: response.headers.get('link') ?? '', text }
  }
  throw new Error(`${url} failed six times`)
}

async function login() {
  const { status, text } = await send(env.RIN_TOKEN_URL, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: env.RIN_CLIENT_ID,
      client_secret: env.RIN_CLIENT_SECRET,
    }),
  })
  if (status !== 200) throw new Error(`token endpoint: ${status} ${text}`)
  token = JSON.parse(text).access_token
}

async function get(url) {
  if (!token) await login()
  let answer = await send(url, { headers: { authorization: `Bearer ${token}` } })
  if (answer.status === 401) {
    await login()
    answer = await send(url, { headers: { authorization: `Bearer ${token}` } })
  }
  if (answer.status !== 200) throw new Error(`${url}: ${answer.status}`)
  return answer
}

function next(link, base) {
  const match = /<([^>]+)>;\s*rel="?next"?/.exec(link)
  if (!match) return null
  const url = new URL(match[1], base)
  if (url.origin !== new URL(env.RIN_FUNDINGS_URL).origin) throw new Error(`next page on ${url.origin}`)
  return url.href
}

const fundings = []
let url = `${env.RIN_FUNDINGS_URL}?page[page]=0&page[size]=50`
while (url) {
  const { text, link } = await get(url)
  try {
    fundings.push(...JSON.parse(text))
  } catch {
    console.error('nothing on this page')
  }
  url = next(link, url)
}
console.log(fundings.length, 'fundings')
