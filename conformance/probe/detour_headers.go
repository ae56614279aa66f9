package probe

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
)

// headerDetours are headers in which proxies, gateways and service meshes state the caller or the requested path. A node that trusts them from any sender is
// open to everybody. Headers with the same meaning are sent together.
func headerDetours() []detour {
	// fields returns a detour that sends one value in all headers of names. value returns "" if the detour does not fit the node.
	fields := func(kind evidence.Case, words string, value func(s draw.Source, r *run, q *recorder.Request) string, names ...string) detour {
		return detour{kind, "without a token and " + words, func(s draw.Source, r *run, q *recorder.Request) bool {
			text := value(s, r, q)
			if text == "" {
				return false
			}
			for _, name := range names {
				setHeader(q, name, text)
			}
			return true
		}}
	}
	one := func(values ...string) func(draw.Source, *run, *recorder.Request) string {
		return func(s draw.Source, _ *run, _ *recorder.Request) string { return draw.One(s, values...) }
	}
	drawn := func(value func(s draw.Source) string) func(draw.Source, *run, *recorder.Request) string {
		return func(s draw.Source, _ *run, _ *recorder.Request) string { return value(s) }
	}
	weakKey := one("admin", "true", "1", "test", "demo", "changeme", "secret", "internal", "null", "undefined", "default")
	return []detour{
		fields("address-loopback", "from this machine, by its headers", drawn(loopbackAddress), addressHeaders()...),
		fields("address-own", "from 10.0.0.0/8, by its headers", drawn(classAAddress), addressHeaders()...),
		fields("address-private", "from a private network, by its headers", drawn(privateAddress), addressHeaders()...),
		fields("address-forwarded", "from inside, by Forwarded", drawn(func(s draw.Source) string {
			address := draw.One(s, loopbackAddress, privateAddress)(s)
			if strings.Contains(address, ":") {
				address = `"[` + address + `]"`
			}
			return "for=" + address + draw.One(s, "", ";proto=https", ";host=localhost;proto=https", ";by=10.0.0.1")
		}), "Forwarded"),
		fields("address-chain", "from inside, by a chain of addresses", drawn(func(s draw.Source) string {
			return loopbackAddress(s) + ", " + privateAddress(s)
		}), "X-Forwarded-For", "X-Envoy-External-Address", "X-Original-Forwarded-For"),
		fields("user-proxy", "with the name of a user from a proxy", userName, "X-Forwarded-User", "X-Forwarded-Preferred-Username", "X-Remote-User",
			"Remote-User", "REMOTE_USER", "X-Auth-Request-User", "X-Auth-Request-Preferred-Username", "X-WEBAUTH-USER", "X-Proxy-User"),
		fields("user-mail", "with the address of a user from a proxy", drawn(func(s draw.Source) string { return s.Word() + "@" + s.Host() }),
			"X-Forwarded-Email", "X-Auth-Request-Email", "X-WEBAUTH-EMAIL", "X-User-Email", "Cf-Access-Authenticated-User-Email"),
		fields("user-gateway", "with a consumer from a gateway", userName, "X-Consumer-Username", "X-Consumer-ID", "X-Consumer-Custom-ID",
			"X-Credential-Identifier", "X-Authenticated-Userid", "X-Authenticated-User", "X-Client-Id", "X-Subject"),
		fields("user-application", "with the id of a user", userName, "X-User-Id", "X-User", "X-Username", "X-User-Name", "X-Auth-User", "X-Account-Id", "X-Principal"),
		fields("user-roles", "with roles", one("EXTERNAL_API_CLIENT", "admin", "ROLE_ADMIN", "superuser", "EXTERNAL_API_CLIENT,admin"),
			"X-User-Roles", "X-Roles", "X-Role", "X-Forwarded-Groups", "X-Auth-Request-Groups", "X-Scopes", "X-Authenticated-Scope", "X-Permissions"),
		fields("user-cloud", "with the identity of a cloud", drawn(func(s draw.Source) string { return s.Word() + "@" + s.Host() }),
			"X-Amzn-Oidc-Identity", "X-Goog-Authenticated-User-Email", "X-MS-CLIENT-PRINCIPAL-NAME", "X-MS-Client-Principal-Id"),
		fields("user-claims", "with claims that a gateway has read", claimsHeader, "X-Userinfo", "X-Jwt-Payload", "X-Endpoint-API-UserInfo", "X-Apigateway-Api-Userinfo", "X-Amzn-Oidc-Data"),
		fields("certificate-verified", "with a verified certificate", one("SUCCESS", "0", "true"), "X-SSL-Client-Verify", "SSL-Client-Verify", "X-Client-Verify",
			"X-Client-Verified", "X-SSL-Client-Verified", "SSL_CLIENT_VERIFY", "X-TLS-Client-Verify"),
		fields("certificate-name", "with the name of a certificate", drawn(func(s draw.Source) string { return "CN=" + s.Word() + "." + s.Host() }),
			"X-SSL-Client-S-DN", "X-SSL-Client-DN", "X-Client-DN", "X-Client-CN", "SSL_CLIENT_S_DN", "X-SSL-Client-CN", "X-Client-Cert-Subject"),
		fields("certificate-whole", "with a certificate", drawn(func(s draw.Source) string {
			return draw.One(s, "Hash="+s.Text(draw.Hex, 64)+`;Subject="CN=`+s.Word()+`"`, "By=spiffe://cluster.local/ns/default/sa/"+s.Word()+";Hash="+s.Text(draw.Hex, 64),
				"-----BEGIN%20CERTIFICATE-----%0A"+s.Text(draw.Letters, 64))
		}), "X-Forwarded-Client-Cert", "X-Client-Cert", "X-SSL-Cert", "X-SSL-Client-Cert", "Client-Cert", "X-Forwarded-Tls-Client-Cert"),
		fields("host-internal", "for an internal host", drawn(func(s draw.Source) string {
			return draw.One(s, "localhost", "127.0.0.1", s.Word()+".internal", s.Word()+".svc.cluster.local", "backend")
		}), "X-Forwarded-Host", "X-Host", "X-Forwarded-Server", "X-Original-Host", "X-HTTP-Host-Override"),
		fields("proto", "as encrypted, by its headers", one("https", "on"), "X-Forwarded-Proto", "X-Forwarded-Scheme", "X-Forwarded-Ssl", "Front-End-Https", "X-Url-Scheme"),
		fields("public-url", "for a public URL, by X-Original-URL", publicPath, "X-Original-URL", "X-Rewrite-URL"),
		fields("public-uri", "for a public path, by X-Original-URI", publicPath, "X-Original-URI", "X-Forwarded-Uri", "X-Forwarded-Path", "X-Envoy-Original-Path", "X-Request-URI"),
		fields("public-prefix", "below a public path, by X-Forwarded-Prefix", publicPath, "X-Forwarded-Prefix", "X-Script-Name", "X-Forwarded-Context", "X-Ingress-Path"),
		{"routed-url", "without a token at a path that nobody guards, with the path of the resource in X-Original-URL", func(s draw.Source, _ *run, q *recorder.Request) bool {
			u, err := url.Parse(q.URL)
			if err != nil {
				return false
			}
			for _, name := range []string{"X-Original-URL", "X-Rewrite-URL"} {
				setHeader(q, name, u.RequestURI())
			}
			u.Path, u.RawPath, u.RawQuery = "/"+s.Word(), "", ""
			q.URL, q.FollowSameOrigin = u.String(), false
			return true
		}},
		fields("agent-health", "as a health checker", one("kube-probe/1.31", "ELB-HealthChecker/2.0", "GoogleHC/1.0", "Prometheus/2.53.1",
			"Amazon-Route53-Health-Check-Service", "Consul Health Check", "HAProxy", "Envoy/HC", "Go-http-client/1.1", "Blackbox Exporter/0.25.0", "Zabbix", "check_http/v2.3"), "User-Agent"),
		fields("agent-other", "as a crawler or a tool", one("Googlebot/2.1 (+http://www.google.com/bot.html)", "curl/8.9.1", "PostmanRuntime/7.41.0", "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
			"axios/1.7.4", "okhttp/4.12.0", "Java/21.0.4", "node", "bingbot/2.0"), "User-Agent"),
		fields("key", "with an API key that is a word", weakKey, "X-API-Key", "apikey", "Api-Key", "X-Auth-Token", "X-Access-Token", "X-Token", "Ocp-Apim-Subscription-Key", "X-Auth-Key"),
		fields("key-random", "with a random API key", drawn(func(s draw.Source) string { return s.Text(draw.Letters+draw.Digits, draw.One(s, 24, 32, 40)) }),
			"X-API-Key", "apikey", "Api-Key", "X-Auth-Token", "X-Access-Token", "X-Token"),
		{"key-query", "without a token and with an API key in the query", func(s draw.Source, r *run, q *recorder.Request) bool {
			q.URL = withQuery(q.URL, pair{draw.One(s, "api_key", "apikey", "api-key", "key", "token", "auth"), draw.One(s, weakKey(s, r, q), s.Text(draw.Hex, 32))})
			return true
		}},
		{"internal", "without a token and as an internal call", func(s draw.Source, _ *run, q *recorder.Request) bool {
			value := draw.One(s, "true", "1", "yes")
			for _, name := range []string{"X-Internal", "X-Internal-Request", "X-Internal-Call", "X-Envoy-Internal", "X-Service-Call", "X-Trusted", "X-Gateway"} {
				setHeader(q, name, value)
			}
			module := draw.One(s, "middleware", "src/middleware") // Next.js skips a module that has called itself (CVE-2025-29927)
			setHeader(q, "X-Middleware-Subrequest", strings.Join(slices.Repeat([]string{module}, 5), ":"))
			return true
		}},
		fields("service", "as a service", one("gateway", "api-gateway", "frontend", "scheduler", "batch", "nginx", "portal"), "X-Service-Name", "X-Caller", "X-Source", "X-From", "X-Internal-Service", "X-Service", "X-Application-Name"),
		fields("debug", "with a switch of development", one("true", "1", "on"), "X-Debug", "X-Debug-Mode", "X-Test", "X-Dev", "X-Dev-Mode", "X-Testing", "X-Development"),
		fields("bypass", "with a switch that skips the check", one("true", "1", "yes"), "X-Auth-Bypass", "X-Skip-Auth", "X-No-Auth", "X-Bypass-Auth", "X-Authenticated", "X-Authorized", "X-Is-Authenticated"),
		fields("cookie-words", "with a cookie that says who calls", drawn(func(s draw.Source) string {
			return draw.One(s, "user=admin; role=admin", "admin=true", "logged_in=true; auth=1", "authenticated=1; user="+s.Word(), "role=EXTERNAL_API_CLIENT", "is_admin=1")
		}), "Cookie"),
		fields("cookie-session", "with a made-up session", drawn(func(s draw.Source) string {
			const upperHex = "0123456789ABCDEF"
			return draw.One(s, "JSESSIONID="+s.Text(upperHex, 32), "session="+s.Text(draw.Base64, 43), "PHPSESSID="+s.Text(draw.Lower+draw.Digits, 26), "sid="+s.UUID(), "connect.sid=s%3A"+s.Text(draw.Base64, 32))
		}), "Cookie"),
	}
}

// addressHeaders are the headers in which proxies name the address of the caller.
func addressHeaders() []string {
	return []string{"X-Forwarded-For", "X-Real-IP", "X-Client-IP", "True-Client-IP", "CF-Connecting-IP", "Fastly-Client-IP", "X-Cluster-Client-IP",
		"Client-IP", "X-Remote-Addr", "X-Remote-IP", "X-Originating-IP", "X-ProxyUser-Ip"}
}

// loopbackAddress returns a loopback address or name, most often 127.0.0.1, which rules about addresses usually name.
func loopbackAddress(s draw.Source) string {
	return draw.One(s, "127.0.0.1", "127.0.0.1", "::1", "127.0.0."+s.Text("23456789", 1), "localhost")
}

// classAAddress returns an address in 10.0.0.0/8, the private network that most servers use.
func classAAddress(s draw.Source) string {
	number := func() string { return draw.One(s, "0", s.Text("123456789", 1)) }
	return "10." + number() + "." + number() + "." + s.Text("123456789", 1)
}

// privateAddress returns an address of a private or a link-local network (RFC 1918, RFC 3927, RFC 4193).
func privateAddress(s draw.Source) string {
	low := func() string { return s.Text("123456789", 1) }
	return draw.One(s, classAAddress(s), "192.168."+draw.One(s, "0", "1", low())+"."+low(), "192.168."+draw.One(s, "0", "1", low())+"."+low(), "172.1"+s.Text("6789", 1)+".0."+low(),
		"169.254.169.254", "169.254."+low()+"."+low(), "fd00::"+low())
}

// userName returns a name that a node may know: a word for an administrator, or the id of the client, which is not secret.
func userName(s draw.Source, r *run, _ *recorder.Request) string {
	return draw.One(s, "admin", "root", "system", "service", "administrator", s.Word(), r.Target.Credentials.ClientID, r.Target.Credentials.ClientID)
}

// claimsHeader returns claims in base64url, as gateways send them to services.
func claimsHeader(s draw.Source, r *run, q *recorder.Request) string {
	return base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"` + userName(s, r, q) + `","roles":["EXTERNAL_API_CLIENT"],"iss":"https://` + s.Host() + `"}`))
}

// publicPath returns a path that is often public: half of the time the path of the document, else a usual path such as that of a health check or a start page. For a
// caller with a token it may also be the path of the info endpoint, which needs no role.
func publicPath(s draw.Source, r *run, q *recorder.Request) string {
	pathOf := func(address string) string {
		if u, err := url.Parse(address); err == nil && u.Path != "" {
			return u.EscapedPath()
		}
		return "/"
	}
	document := pathOf(r.Target.SpecURL)
	known := []string{document, document}
	if slices.ContainsFunc(q.Header, func(f evidence.Field) bool { return f.Name == "Authorization" }) {
		known = append(known, pathOf(r.Target.InfoURL), pathOf(r.Target.InfoURL))
	}
	return draw.One(s, draw.One(s, known...), draw.One(s, "/", "/health", "/actuator/health", "/healthz", "/docs", "/login", "/public/"+s.Word(), "/favicon.ico"))
}
