// openid-client 6: discovery, client credentials grant, fetchProtectedResource.
import * as oidc from 'openid-client'

const { RIN_TOKEN_URL, RIN_CLIENT_ID, RIN_CLIENT_SECRET, RIN_FUNDINGS_URL } = process.env
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

function pause(response, attempt) {
  const value = response?.headers.get('retry-after')
  if (value && /^\d+$/.test(value)) return Number(value) * 1000
  if (value && !Number.isNaN(Date.parse(value))) return Math.max(0, Date.parse(value) - Date.now())
  return 500 * 2 ** attempt
}

async function patientFetch(url, options) {
  for (let attempt = 0; ; attempt++) {
    let response
    try {
      response = await fetch(url, options)
      if (response.status !== 429 && response.status < 500) return response
    } catch (error) {
      if (attempt === 5) throw error
    }
    if (attempt === 5) return response
    await sleep(pause(response, attempt))
  }
}

const server = { issuer: new URL(RIN_TOKEN_URL).origin, token_endpoint: RIN_TOKEN_URL }
const config = new oidc.Configuration(server, RIN_CLIENT_ID, undefined, oidc.ClientSecretPost(RIN_CLIENT_SECRET))
oidc.allowInsecureRequests(config)
config[oidc.customFetch] = patientFetch

let tokens = await oidc.clientCredentialsGrant(config)

async function read(url) {
  for (let attempt = 0; attempt < 3; attempt++) {
    let response
    try {
      response = await oidc.fetchProtectedResource(config, tokens.access_token, url, 'GET')
    } catch (error) {
      if (!(error instanceof oidc.WWWAuthenticateChallengeError) || attempt > 0) throw error
      tokens = await oidc.clientCredentialsGrant(config)
      continue
    }
    if (response.status === 401) {
      tokens = await oidc.clientCredentialsGrant(config)
      continue
    }
    if (!response.ok) throw new Error(`${url} answered ${response.status}`)
    try {
      return [await response.json(), response.headers.get('link') ?? '']
    } catch (error) {
      if (error instanceof SyntaxError) throw error
      await sleep(1000 * 2 ** attempt) // the connection was cut
    }
  }
  throw new Error(`${url} failed three times`)
}

let url = new URL(RIN_FUNDINGS_URL)
url.searchParams.set('page[page]', '0')
url.searchParams.set('page[size]', '50')
let count = 0
while (url) {
  const [records, link] = await read(url)
  count += records.length
  const next = link.match(/<([^>]+)>;\s*rel="next"/)
  url = next && new URL(next[1], url)
  if (url && url.origin !== new URL(RIN_FUNDINGS_URL).origin) throw new Error('the next page is on another host')
}
console.log(count)
