package walk

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/discover"
	"github.com/rin-network/rin/conformance/exchange"
)

// info is the info resource, asked as the interface document shows it.
func (w *Walk) info() discover.Resource {
	return discover.Resource{Name: exchange.Info, URL: w.Target().InfoURL, JSONType: true}
}

// CallInfo calls the info resource with the token.
func (w *Walk) CallInfo(ctx context.Context) Scene {
	scene := Scene{Step: Info}
	token, ok := w.bearer(ctx, &scene)
	if !ok {
		return scene
	}
	answer, err := w.send(ctx, w.info().Authorized(exchange.OK, token))
	if err != nil {
		return troubled(scene, err)
	}
	scene.Exchanges = append(scene.Exchanges, answer.Exchange)
	if scene.Trouble = w.refusedCall(answer); scene.Trouble != nil {
		return scene
	}
	if ahead, known := w.skew(answer); known && (ahead > skewed || ahead < -skewed) {
		scene.Says = append(scene.Says, fmt.Sprintf("The node's clock and this machine's differ by %s: tokens will seem to expire too early or too late.", ahead.Abs().Round(time.Second)))
	}
	scene.Says = append(scene.Says, endpointsInWords(answer.Body)...)
	scene.Verdicts = w.judge("INF-01", "INF-02", "INF-03", "INF-04", "INF-06")
	return scene
}

// endpointsInWords says what an info answer offers.
func endpointsInWords(body []byte) []string {
	var info struct {
		Endpoints map[string][]struct {
			Name         any
			MajorVersion any `json:"majorVersion"`
			MinorVersion any `json:"minorVersion"`
			URL          any
		}
	}
	if json.Unmarshal(body, &info) != nil || len(info.Endpoints) == 0 {
		return []string{"The answer lists no endpoints, so a client has to know them from elsewhere."}
	}
	families := make([]string, 0, len(info.Endpoints))
	for family := range info.Endpoints {
		families = append(families, family)
	}
	slices.Sort(families)
	out := []string{"The node offers:"}
	for _, family := range families[:min(len(families), 20)] {
		for _, e := range info.Endpoints[family][:min(len(info.Endpoints[family]), 20)] {
			out = append(out, fmt.Sprintf("  %s, version %s.%s: %s", strings.TrimSpace(family+" "+word(e.Name)), word(e.MajorVersion), word(e.MinorVersion), word(e.URL)))
		}
	}
	return out
}

// word is a JSON value that should be short, as text.
func word(v any) string {
	if v == nil {
		return "?"
	}
	return fmt.Sprint(v)
}
