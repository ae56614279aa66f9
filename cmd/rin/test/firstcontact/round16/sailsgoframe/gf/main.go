package main

import (
	"os"
	"time"
	_ "time/tzdata"

	_ "github.com/gogf/gf/contrib/drivers/sqlite/v2"
	"github.com/gogf/gf/v2/frame/g"
	"github.com/gogf/gf/v2/net/ghttp"
)

var (
	node = os.Getenv("NODE")
	base = "http://127.0.0.1:" + port()
)

func port() string {
	if p := os.Getenv("PORT"); p != "" {
		return p
	}
	return "8000"
}

func main() {
	openDatabase()
	s := g.Server()
	s.SetAddr("127.0.0.1:" + port())
	s.SetServerAgent("brg-node")
	s.SetDumpRouterMap(false)
	s.SetFileServerEnabled(false)
	s.SetIdleTimeout(65 * time.Second)
	s.SetMaxHeaderBytes(32 * 1024)

	s.BindStatusHandler(404, func(r *ghttp.Request) {
		if r.Response.BufferLength() == 0 && r.Method != "HEAD" || r.Response.Header().Get("Content-Type") == "" {
			problem(r, 404, "not-found", "There is nothing at this address.")
		}
	})
	s.Group("/", func(group *ghttp.RouterGroup) {
		group.Middleware(recovered)
		group.ALL("/sso/realms/net/protocol/openid-connect/token", tokenEndpoint("production"))
		group.ALL("/brg-staging/oauth/token", tokenEndpoint("staging"))
	})
	s.Group("/", func(group *ghttp.RouterGroup) {
		group.Middleware(recovered, readOnly)
		group.ALL("/ris/registry", showRegistry)
		group.ALL("/brg/funding/v3/api-docs", showDocument)
	})
	s.Group("/", func(group *ghttp.RouterGroup) {
		group.Middleware(recovered, readOnly, bearer("production"))
		group.ALL("/brg/info/v1/oauth/info", showInfo)
	})
	s.Group("/", func(group *ghttp.RouterGroup) {
		group.Middleware(recovered, readOnly, bearer("staging"))
		group.ALL("/brg-staging/info/v1/oauth/info", showInfo)
	})
	s.Group("/brg/funding/v3", func(group *ghttp.RouterGroup) {
		if node == "gf-buche" {
			group.Middleware(cached)
		}
		group.Middleware(recovered, readOnly, bearer("production"), hasRole)
		group.ALL("/calls", listCalls)
		group.ALL("/calls/{id}", getCall)
		group.ALL("/deadlines", listDeadlines)
		group.ALL("/funders", listFunders)
		group.ALL("/funders/{id}", getFunder)
	})
	s.Run()
}
