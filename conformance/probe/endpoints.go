package probe

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/discover"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/exchange/record"
)

// endpoint is a URL that the info endpoint lists and that can be called as it stands.
type endpoint struct{ name, url string }

// readEndpoints takes the callable URLs out of an info answer: absolute and without a template, each once, the families in order
// of their names.
func readEndpoints(body []byte) []endpoint {
	var info struct {
		Endpoints map[string]json.RawMessage `json:"endpoints"`
	}
	if json.Unmarshal(body, &info) != nil {
		return nil
	}
	families := make([]string, 0, len(info.Endpoints))
	for family := range info.Endpoints {
		families = append(families, family)
	}
	slices.Sort(families)
	var out []endpoint
	for _, family := range families {
		var listed []struct {
			Name string `json:"name"`
			URL  string `json:"url"`
		}
		if json.Unmarshal(info.Endpoints[family], &listed) != nil {
			continue // the requirements on the info answer report it
		}
		for _, e := range listed {
			found := endpoint{e.Name[:min(len(e.Name), 80)], strings.TrimSpace(e.URL)}
			same := func(x endpoint) bool { return x.url == found.url }
			if callable(found.url) && !slices.ContainsFunc(out, same) && len(out) < maxEndpoints {
				out = append(out, found)
			}
		}
	}
	return out
}

func callable(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http") && u.User == nil && !strings.ContainsAny(text, "{}")
}

func (r *run) endpointProbe(name exchange.Resource) probe {
	return probe{prepare: func(ctx context.Context) (record.Ask, *unsent) {
		_, number, _ := strings.Cut(string(name), "/")
		n, err := strconv.Atoi(number)
		r.facts.mu.Lock()
		listed := r.facts.endpoints
		r.facts.mu.Unlock()
		if err != nil || n < 1 || n > len(listed) {
			return record.Ask{}, unmet("the info endpoint lists no such URL")
		}
		e := listed[n-1]
		u, err := url.Parse(e.url)
		if err != nil || !slices.Contains(r.Target.Origins(), exchange.Origin(u)) {
			return record.Ask{}, notApplicable("%.200s is on another origin, which may not receive the token (--allow-origin)", e.url)
		}
		res := discover.Resource{Name: name, URL: e.url}
		res.URL = withQuery(res.URL, r.onePage(e)...)
		ask, reason := r.authorized(ctx, res, exchange.OK)
		ask.Given = map[string]string{"name": e.name, "url": e.url}
		return ask, reason
	}}
}

// onePage is the query that keeps the answer of a listed URL small: as the document describes it, or as the network's clients send it
// to lists that no document describes.
func (r *run) onePage(e endpoint) []pair {
	base, _ := r.base()
	for _, o := range r.node.Executable {
		if strings.TrimSuffix(base.URL(o.Path), "/") != strings.TrimSuffix(e.url, "/") {
			continue
		}
		if size, ok := sizeParameter(o); ok {
			return []pair{{size.Name, strconv.Itoa(atLeast(size.Schema, 1))}}
		}
		return nil
	}
	if isList(e) {
		return []pair{{pageSize, "1"}}
	}
	return nil
}

// isList tells by name or path that a URL lists things: FUNDINGS, /projects.
func isList(e endpoint) bool {
	path, _, _ := strings.Cut(e.url, "?")
	return strings.HasSuffix(strings.ToLower(e.name), "s") || strings.HasSuffix(strings.ToLower(strings.TrimRight(path, "/")), "s")
}
