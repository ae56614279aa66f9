package walk_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/tui/walk"
)

func TestWalk(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "walk")
}

// ground is a node to walk on.
type ground struct {
	*sandbox.Server
	url   string
	clock *manual
}

// manual is a clock that a test moves while requests that were answered may still look at it.
type manual struct{ after atomic.Int64 }

func (m *manual) now() time.Time {
	return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(m.after.Load()))
}

func (m *manual) add(d time.Duration) { m.after.Add(int64(d)) }

func newGround(change func(http.Handler) http.Handler, config sandbox.Config) ground {
	GinkgoHelper()
	clock := &manual{}
	config.Clock, config.Calls, config.Loopback = clock.now, 45, true
	node, err := sandbox.New(config)
	Expect(err).NotTo(HaveOccurred())
	var handler http.Handler = node
	if change != nil {
		handler = change(node)
	}
	server := httptest.NewServer(handler)
	DeferCleanup(server.Close)
	return ground{node, server.URL, clock}
}

// walkOn begins a walk with the credentials of the node's demo clients.
func (g ground) walkOn() *walk.Walk {
	GinkgoHelper()
	clients := g.Credentials()
	second := target.Credentials{ClientID: clients[1].ClientID, ClientSecret: target.NewSecret(clients[1].Secret)}
	w, err := walk.New(walk.Options{
		Suite: "test", Clock: g.clock.now,
		Target: target.Target{Registry: g.url + "/registry/registry.json",
			Credentials: target.Credentials{ClientID: clients[0].ClientID, ClientSecret: target.NewSecret(clients[0].Secret)}, Second: &second},
	})
	Expect(err).NotTo(HaveOccurred())
	return w
}

// here is a walk that has chosen its node.
func (g ground) here() *walk.Walk {
	GinkgoHelper()
	w := g.walkOn()
	scene, _ := w.ReadRegistry(context.Background())
	Expect(scene.Well()).To(BeTrue(), "%+v", scene.Trouble)
	Expect(w.Choose("XA")).To(Succeed())
	return w
}

// outcomes are the verdicts of a scene, in words.
func outcomes(s walk.Scene) map[requirement.ID]requirement.Outcome {
	out := map[requirement.ID]requirement.Outcome{}
	for _, v := range s.Verdicts {
		out[v.ID] = v.Outcome
	}
	return out
}

// everything that a scene may show, as one text.
func everything(s walk.Scene) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v %+v\n", s.Says, s.Trouble)
	for _, v := range s.Verdicts {
		fmt.Fprintf(&b, "%+v\n", v)
	}
	for _, x := range s.Exchanges {
		fmt.Fprintf(&b, "%s\n%+v\n%s\n", exchange.Curl(x), x.Request, x.Request.Body)
		if x.Response != nil {
			fmt.Fprintf(&b, "%+v\n%s\n", x.Response.Header, x.Response.Body)
		}
	}
	return b.String()
}
