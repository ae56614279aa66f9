// Command node is the Danube Research Fund's node of the research-information
// network: an authorization server (client credentials, opaque tokens), the
// info resource and the funding API v3.
package main

import (
	"errors"
	"log"
	"net"
	"net/http"
	"os"
	"time"
)

type config struct {
	name    string // variant, see NODE
	baseURL string
	issuer  string
}

func main() {
	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}
	cfg := config{name: os.Getenv("NODE"), baseURL: "http://127.0.0.1:" + port}
	if cfg.name == "" {
		cfg.name = "plain-go-base"
	}
	cfg.issuer = cfg.baseURL + "/auth/realms/danube"

	today := time.Now().UTC().Truncate(24 * time.Hour)
	store := newStore(today)
	prod := newAuthServer(cfg, "danube", productionClients())
	staging := newAuthServer(cfg, "danube-staging", stagingClients())
	if cfg.name == "go-short-lived" {
		prod.lifetime = 45 * time.Second
	}
	api := newAPI(cfg, store, prod)

	mux := http.NewServeMux()
	mux.Handle("/auth/realms/danube/protocol/openid-connect/token", methods{http.MethodPost: prod.token})
	mux.Handle("/staging/oauth/token", methods{http.MethodPost: staging.token})
	mux.Handle("/ris/info/v1/oauth/info/{$}", methods{http.MethodGet: api.info(prod, "production")})
	mux.Handle("/staging/ris/info/v1/oauth/info/{$}", methods{http.MethodGet: api.info(staging, "staging")})
	mux.Handle("/registry.json", methods{http.MethodGet: api.registry})
	mux.Handle("/ris/funding/v3/api-docs", methods{http.MethodGet: api.document})
	const v3 = "/ris/funding/v3"
	mux.Handle(v3+"/calls", methods{http.MethodGet: api.guard(api.listCalls)})
	mux.Handle(v3+"/calls/{callId}", methods{http.MethodGet: api.guard(api.getCall)})
	mux.Handle(v3+"/calls/{callId}/documents", methods{http.MethodGet: api.guard(api.listDocuments)})
	mux.Handle(v3+"/funders", methods{http.MethodGet: api.guard(api.listFunders)})
	statistics := api.guard(api.statistics)
	if cfg.name == "go-cached-statistics" {
		statistics = cached(30*time.Second, statistics)
	}
	mux.Handle(v3+"/statistics", methods{http.MethodGet: statistics})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		problem(w, r, http.StatusNotFound, "Not found", "There is no resource at this address.")
	})

	srv := &http.Server{
		Handler:           securityHeaders(mux),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       20 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    32 << 10,
	}
	ln, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("%s listens on %s", cfg.name, cfg.baseURL)
	if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
}
