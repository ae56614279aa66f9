// A research-information node: authorization server, info endpoint and funding API on one port.
package main

import (
	_ "embed"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
)

//go:embed openapi.json
var openapiText string

// options are the switches of a deployment.
type options struct {
	mergedForm, earlyCache, shortStore, scanCap, localDays, openDrafts, laxBinding bool
	paced, single, living                                                          bool
}

func readOptions(name string) (o options, ok bool) {
	switch name {
	case "", "gin-base":
	case "gin-querycred":
		o.mergedForm = true
	case "gin-earlycache":
		o.earlyCache = true
	case "gin-shortttl":
		o.shortStore = true
	case "gin-scancap":
		o.scanCap = true
	case "gin-localday":
		o.localDays = true
	case "gin-drafts":
		o.openDrafts = true
	case "gin-laxenum":
		o.laxBinding = true
	case "gin-paced":
		o.paced = true
	case "gin-single":
		o.single = true
	case "gin-living":
		o.living = true
	default:
		return o, false
	}
	return o, true
}

var (
	opt    options
	origin string
)

const (
	prefix     = "/ris"
	realmPath  = "/realms/research"
	apiBase    = prefix + "/funding/v3"
	stagingTop = "/staging"
)

// endpoint registers GET, HEAD and OPTIONS for a path.
func endpoint(r gin.IRoutes, path string, h ...gin.HandlerFunc) {
	r.GET(path, h...)
	r.HEAD(path, h...)
	r.OPTIONS(path, func(c *gin.Context) {
		c.Header("Allow", "GET, HEAD, OPTIONS")
		c.Status(http.StatusNoContent)
	})
}

func main() {
	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}
	var ok bool
	if opt, ok = readOptions(os.Getenv("NODE")); !ok {
		log.Fatal("unknown NODE")
	}
	origin = "http://127.0.0.1:" + port
	gin.SetMode(gin.ReleaseMode)

	store, err := openStore(opt.single)
	if err != nil {
		log.Fatal(err)
	}
	if opt.living {
		go store.live()
	}

	prod := newAuthServer(origin+realmPath, origin+realmPath+"/protocol/openid-connect/token", productionClients())
	test := newAuthServer(origin+stagingTop, origin+stagingTop+"/oauth/token", stagingClients())

	r := gin.New()
	r.HandleMethodNotAllowed = true
	r.RedirectTrailingSlash = false
	r.RedirectFixedPath = false
	r.Use(gin.CustomRecoveryWithWriter(nil, func(c *gin.Context, _ any) {
		fail(c, 500, "internal", "The request could not be served.")
	}))
	r.Use(func(c *gin.Context) { c.Header("X-Content-Type-Options", "nosniff") })
	if opt.paced {
		r.Use(pace())
	}
	r.NoRoute(func(c *gin.Context) { fail(c, 404, "not_found", "There is no such resource.") })
	r.NoMethod(func(c *gin.Context) {
		c.Header("Allow", strings.Join(allowed(c), ", "))
		fail(c, 405, "method_not_allowed", "The resource does not support this method.")
	})

	// Authorization servers.
	r.POST(realmPath+"/protocol/openid-connect/token", prod.token)
	r.POST(stagingTop+"/oauth/token", test.token)
	endpoint(r, "/.well-known/oauth-authorization-server"+realmPath, prod.metadata)
	endpoint(r, "/.well-known/oauth-authorization-server"+stagingTop, test.metadata)

	// Info, production and staging.
	for _, tail := range []string{"/info/v1/oauth/info/", "/info/v1/oauth/info"} {
		endpoint(r, prefix+tail, prod.guard("info:read", ""), prod.info)
		endpoint(r, stagingTop+prefix+tail, test.guard("info:read", ""), test.info)
	}

	// Funding API.
	api := &fundingAPI{store: store}
	guard := prod.guard("funding:read", "EXTERNAL_API_CLIENT")
	doc := []byte(strings.ReplaceAll(openapiText, "{{ORIGIN}}", origin))
	endpoint(r, apiBase+"/api-docs", func(c *gin.Context) {
		c.Header("Cache-Control", "public, max-age=300")
		send(c, doc)
	})
	endpoint(r, apiBase+"/calls", guard, api.list)
	if opt.earlyCache {
		endpoint(r, apiBase+"/calls/:id", cached(45*time.Second), guard, api.detail)
	} else {
		endpoint(r, apiBase+"/calls/:id", guard, api.detail)
	}
	endpoint(r, apiBase+"/funders", guard, api.funders)
	endpoint(r, apiBase+"/funders/:id", guard, api.funder)

	endpoint(r, "/registry.json", func(c *gin.Context) {
		c.Header("Cache-Control", "public, max-age=300")
		sendJSON(c, registry())
	})

	ln, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	srv := &http.Server{Handler: r, ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(srv.Serve(ln))
}

// allowed names the methods of the resource asked for.
func allowed(c *gin.Context) []string {
	if strings.HasSuffix(c.Request.URL.Path, "/token") {
		return []string{"POST"}
	}
	return []string{"GET", "HEAD", "OPTIONS"}
}
