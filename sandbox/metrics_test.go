package sandbox_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/edge"
	"github.com/rin-network/rin/sandbox/funding"
)

var _ = Describe("The metrics of a network", func() {
	metricsOf := func(network *sandbox.Network) string {
		var p edge.MetricsPage
		network.WriteMetrics(&p)
		return string(p.Bytes())
	}
	second := sandbox.Config{Calls: 3, Root: "/xb", Member: funding.Member{ID: "XB", Name: "Musterberg"}}

	It("count the requests to each node by operation, and have no label that a caller chooses", func() {
		network := newNetwork(sandbox.Config{Calls: 3}, second)
		token := fetchToken(network, "/xb/oauth/token", network.Nodes()[1].Credentials()[0])
		for range 3 {
			get(network, "/xb"+fundingsPath+"/XF-00000001", bearer(token))
			get(network, "/xb"+fundingsPath+"/made-up", bearer(token))
			send(network, "BREW", "/made/up?x=made-up", "", nil)
			get(network, "/ris-synergy/made-up/v1/things", nil)
		}
		postForm(network, stagingToken, "grant_type=made-up", nil)
		got := metricsOf(network.Network)
		Expect(got).To(SatisfyAll(
			ContainSubstring(`rin_requests_total{node="XB",operation="detail",method="GET",status="2xx"} 3`+"\n"),
			ContainSubstring(`rin_requests_total{node="XB",operation="detail",method="GET",status="4xx"} 3`+"\n"),
			ContainSubstring(`rin_requests_total{node="XA",operation="other",method="other",status="4xx"} 3`+"\n"),
			ContainSubstring(`rin_requests_total{node="XA",operation="described",method="GET",status="4xx"} 3`+"\n"),
			ContainSubstring(`rin_request_duration_seconds_count{node="XB",operation="detail"} 6`+"\n"),
			ContainSubstring(`rin_tokens_issued_total{node="XA"} 0`+"\n"), ContainSubstring(`rin_tokens_issued_total{node="XB"} 1`+"\n"),
			ContainSubstring(`rin_token_requests_refused_total{node="XA",error="unsupported_grant_type"} 1`+"\n"),
			ContainSubstring("rin_journal_entries 14\n"), Not(ContainSubstring("made")),
		))
		network.Reset()
		after := metricsOf(network.Network)
		Expect(after).To(SatisfyAll(ContainSubstring("rin_journal_entries 0\n"), ContainSubstring(`operation="detail",method="GET",status="2xx"} 3`+"\n")))
	})

	It("count refused token requests by their error code", func() {
		node := newNetwork(sandbox.Config{Calls: 3})
		client := node.Nodes()[0].Credentials()[0]
		good := "client_id=" + client.ClientID + "&client_secret=" + client.Secret
		codes := map[string]bool{}
		for _, form := range []string{"", "grant_type=password&" + good, "grant_type=client_credentials", "grant_type=client_credentials&scope=%22&" + good} {
			var body struct{ Error string }
			decode(postForm(node, stagingToken, form, nil), &body)
			codes[body.Error] = true
			Expect(metricsOf(node.Network)).To(ContainSubstring(`error="` + body.Error + `"} 1` + "\n"))
		}
		Expect(codes).To(HaveLen(4))
	})

	It("know the operation of every route", func() {
		node := newNetwork(sandbox.Config{Calls: 3})
		for _, route := range node.Nodes()[0].Routes() {
			get(node, strings.ReplaceAll(route.Path, "{id}", "XF-00000001"), nil)
		}
		Expect(metricsOf(node.Network)).NotTo(ContainSubstring(`operation="other"`))
	})
})

var _ = Describe("The log of requests", func() {
	It("names the node, and hides what may be a secret", func() {
		var log bytes.Buffer
		node := newNode(sandbox.Config{Calls: 3, Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
		secret := node.Credentials()[0].Secret
		get(node, "/"+secret+"/a/"+strings.Repeat("b/", 400), nil)
		get(node, "/try?"+secret, http.Header{"X-Secret": {secret}})
		Expect(log.String()).To(SatisfyAll(ContainSubstring("node=XA method=GET path=/.../a/b/b/"), ContainSubstring("path=/try status=404"), MatchRegexp(`ms=\d+(\.\d+)?\n`), Not(ContainSubstring(secret))))
		for line := range strings.Lines(log.String()) {
			Expect(len(line)).To(BeNumerically("<", 500))
		}
	})
})
