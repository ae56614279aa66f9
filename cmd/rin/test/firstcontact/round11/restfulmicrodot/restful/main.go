package main

import (
	"log"
	"net/http"
	"os"
	"time"

	restful "github.com/emicklei/go-restful/v3"
)

var (
	node   = os.Getenv("NODE")
	port   = os.Getenv("PORT")
	origin string
)

const (
	realmPath = "/idp/realms/nordlys/protocol/openid-connect"
	issuer    = "/idp/realms/nordlys"
)

func variant(name string) bool { return node == "restful-"+name }

func main() {
	if port == "" {
		port = "28100"
	}
	origin = "http://127.0.0.1:" + port
	buildData()
	buildSpec()

	c := restful.NewContainer()
	c.Router(restful.CurlyRouter{})
	c.Filter(c.OPTIONSFilter)
	c.ServiceErrorHandler(func(e restful.ServiceError, rq *restful.Request, rs *restful.Response) {
		for k, v := range e.Header {
			rs.Header()[k] = v
		}
		problem(rs.ResponseWriter, e.Code, http.StatusText(e.Code), "")
	})

	open := new(restful.WebService)
	open.Path("/").Consumes("*/*").Produces("*/*")
	get(open, "registry.json", registry)
	get(open, ".well-known/oauth-authorization-server"+issuer, metadata)
	open.Route(open.POST(realmPath + "/token").To(prod.token))
	open.Route(open.POST(realmPath + "/revoke").To(prod.revoke))
	open.Route(open.POST("/staging/oauth/token").To(staging.token))
	c.Add(open)

	info := new(restful.WebService)
	info.Path("/ris/info/v1").Consumes("*/*").Produces("*/*").Filter(prod.guard(""))
	get(info, "oauth/info", infoHandler)
	c.Add(info)

	sinfo := new(restful.WebService)
	sinfo.Path("/staging/ris/info/v1").Consumes("*/*").Produces("*/*").Filter(staging.guard(""))
	get(sinfo, "oauth/info", infoHandler)
	c.Add(sinfo)

	api := new(restful.WebService)
	api.Path("/ris/funding/v3").Consumes("*/*").Produces("*/*")
	get(api, "api-docs", apiDocs)
	chain := []restful.FilterFunction{prod.guard("EXTERNAL_API_CLIENT")}
	if variant("amber") {
		chain = append([]restful.FilterFunction{shelf}, chain...)
	}
	get(api, "calls", listCalls, chain...)
	get(api, "calls/{callId}", oneCall, chain...)
	get(api, "calls/{callId}/stages", callStages, chain...)
	get(api, "funders", listFunders, chain...)
	get(api, "funders/{funderId}", oneFunder, chain...)
	get(api, "statistics", statistics, chain...)
	c.Add(api)

	srv := &http.Server{
		Addr:              "127.0.0.1:" + port,
		Handler:           http.HandlerFunc(c.Dispatch),
		ReadHeaderTimeout: 10 * time.Second,
		MaxHeaderBytes:    32 << 10,
	}
	log.Fatal(srv.ListenAndServe())
}

func get(ws *restful.WebService, path string, f restful.RouteFunction, filters ...restful.FilterFunction) {
	for _, b := range []*restful.RouteBuilder{ws.GET(path), ws.HEAD(path)} {
		for _, x := range filters {
			b.Filter(x)
		}
		ws.Route(b.To(f))
	}
}
