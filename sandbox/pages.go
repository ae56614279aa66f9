package sandbox

import (
	"net/http"

	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/page"
	"github.com/rin-network/rin/sandbox/registry"
)

// pages are the routes of what people read in a browser.
func pages(places address.Map, member registry.Member) []Route {
	var all []Route
	node := page.Node{Acronym: member.Acronym, Name: member.Name, Places: places}
	for _, resource := range page.Reference(node, documents(places)) {
		all = append(all, Route{Method: http.MethodGet, Path: resource.Path, handler: resource})
	}
	return all
}

// documents are what the reference page offers; the one to try out first, because it needs nothing.
func documents(places address.Map) []page.Document {
	return []page.Document{
		{ID: "try-out", Name: "Try-out", Note: "Sample data without a token: every operation can be called as it is.", Path: places.TryOut().Spec()},
		{ID: "guarded", Name: "Guarded API", Note: "Needs an access token: Authorize takes client id and secret and fetches one.", Path: places.Spec()},
	}
}
