// Gobrunn: a node of the research-information network, on iris.
package main

import (
	"os"
	"sort"
	"strings"

	"github.com/kataras/iris/v12"
)

var (
	node    = os.Getenv("NODE")
	methods = []string{"GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT"}
	port    = os.Getenv("PORT")
	base    = "http://127.0.0.1:" + port
)

// mount serves path with GET and HEAD (or the one method given), tells the rest which methods there are.
func mount(p iris.Party, method, path string, handlers ...iris.Handler) {
	allowed := []string{method}
	if method == iris.MethodGet {
		allowed = append(allowed, iris.MethodHead)
	}
	for _, m := range allowed {
		p.Handle(m, path, handlers...)
	}
	allow := strings.Join(append(allowed, iris.MethodOptions), ", ")
	p.Handle(iris.MethodOptions, path, func(ctx iris.Context) {
		ctx.Header("Allow", allow)
		ctx.StatusCode(204)
	})
	for _, m := range append(methods, "HEAD") {
		if !oneOf(m, allowed...) {
			p.Handle(m, path, func(ctx iris.Context) {
				ctx.Header("Allow", allow)
				fail(ctx, 405, "The method is not allowed here.", "")
			})
		}
	}
}

func document(contentType, text string) iris.Handler {
	return func(ctx iris.Context) { public(ctx, contentType, []byte(text)) }
}

func main() {
	audience := base + "/ris"
	prod := newRealm("gobrunn", base+"/realms/gobrunn", audience,
		Client{"gobrunn-main", "gW%7+/=&:~!k3mQ0zR8vB2yT6hN4jL1pX9sD5fG7cA-eU_iO.wK2rM8tY4bV6nH0qJ3lZ5xS1dF9gC7a!%2B", "sa-7d1f", "AFF-1001", []string{role}, audience},
		Client{"gobrunn-plain", "n0R0le:+%20&~secret!=/", "sa-7d20", "AFF-1002", []string{}, audience},
		Client{"gobrunn-projects", "Pr%2Fojects&=:~!+/x", "sa-7d21", "AFF-1003", []string{role}, base + "/projects"},
		Client{"gobrunn spare:1", "Sp%are+/=&:~!%zz 9", "sa-7d22", "AFF-1004", []string{role}, audience})
	staging := newRealm("gobrunn-staging", base+"/staging", base+"/staging/ris",
		Client{"gobrunn-test", "St%ag+ing/=&:~!%41", "sa-test-1", "AFF-TEST", []string{role}, base + "/staging/ris"})

	app := iris.New()
	app.Logger().SetLevel("error")
	app.UseRouter(func(ctx iris.Context) {
		defer func() {
			if e := recover(); e != nil {
				app.Logger().Error(e)
				fail(ctx, 500, "Something went wrong here.", "")
			}
		}()
		ctx.Header("X-Content-Type-Options", "nosniff")
		if !oneOf(ctx.Method(), "HEAD", "OPTIONS") && !oneOf(ctx.Method(), methods...) {
			fail(ctx, 501, "There is no such method.", "")
			return
		}
		if strings.Contains(strings.ToLower(ctx.Request().URL.EscapedPath()), "%2f") { // data, not a delimiter; no id has it
			fail(ctx, 404, "There is nothing here.", "")
			return
		}
		ctx.Next()
	})
	app.OnAnyErrorCode(func(ctx iris.Context) { // what no handler has answered
		if ctx.ResponseWriter().Header().Get("Content-Length") == "" {
			fail(ctx, ctx.GetStatusCode(), "There is nothing here.", "")
		}
	})

	info := "/ris/info/v1/oauth/info/"
	mount(app, "GET", "/network/registry.json", document("application/json", string(encode(iris.Map{"member": []iris.Map{
		{"id": "GOBRUNN", "acronym": "UGB", "name": "Universität Gobrunn", "contact": "ris@gobrunn.example", "oauth2": prod.Issuer + "/protocol/openid-connect/token", "info": base + info}}}))))
	mount(app, "POST", "/realms/gobrunn/protocol/openid-connect/token", prod.Token)
	mount(app, "GET", "/realms/gobrunn/protocol/openid-connect/certs", prod.Certs)
	mount(app, "GET", "/.well-known/oauth-authorization-server/realms/gobrunn", prod.Metadata(prod.Issuer+"/protocol/openid-connect/token", prod.Issuer+"/protocol/openid-connect/certs"))
	mount(app, "POST", "/staging/oauth/token", staging.Token)
	mount(app, "GET", "/staging/oauth/certs", staging.Certs)
	mount(app, "GET", "/.well-known/oauth-authorization-server/staging", staging.Metadata(staging.Issuer+"/oauth/token", staging.Issuer+"/oauth/certs"))
	mount(app, "GET", info, prod.Guard("info:read", false), prod.Info)
	mount(app, "GET", "/staging"+info, staging.Guard("info:read", false), staging.Info)

	mount(app, "GET", "/ris/reference", document("text/html; charset=utf-8", reference))
	mount(app, "GET", "/ris/tryout/funding/v3/calls", document("application/json", sampleList))
	mount(app, "GET", "/ris/tryout/funding/v3/calls/{id}", document("application/json", sampleCall))

	mount(app, "GET", "/ris/funding/v3/api-docs", document("application/json", openapi()))
	guard := prod.Guard("funding:read", true)
	api := app.Party("/ris/funding/v3")
	mount(api, "GET", "/calls", guard, listCalls)
	mount(api, "GET", "/calls/{id:string}", guard, oneCall)
	mount(api, "GET", "/funders", guard, only(), listFunders)
	mount(api, "GET", "/regions", guard, only(), listRegions)

	app.Listen("127.0.0.1:"+port, iris.WithoutStartupLog, iris.WithoutBodyConsumptionOnUnmarshal, iris.WithoutPathCorrectionRedirection,
		iris.WithoutServerError(iris.ErrServerClosed))
}

var known = func() map[string]bool {
	m := map[string]bool{}
	for _, k := range []string{"page", "size", "status", "region", "funder", "q", "deadlineFrom", "deadlineTo", "minBudget", "sort"} {
		m[k] = true
	}
	return m
}()

func keys(m map[string][]string) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}
