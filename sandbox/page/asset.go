package page

import (
	"embed"
	"io/fs"
	"net/http"
	"strings"

	"github.com/swaggest/swgui/v5/static"

	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/problem"
	"github.com/rin-network/rin/sandbox/representation"
)

// web holds the templates of the pages, and the scripts and styles that are ours.
//
//go:embed web
var web embed.FS

// The media types of the files.
const (
	html       = "text/html; charset=utf-8"
	plainText  = "text/plain; charset=utf-8"
	script     = "text/javascript; charset=utf-8"
	style      = "text/css; charset=utf-8"
	packedForm = ".gz"
)

// asset is a file that a page is made of.
type asset struct {
	name, mediaType string
	from            fs.FS
	file            string // in from; packed when it ends in ".gz"
}

func assets() []asset {
	return []asset{
		{"page.css", style, web, "web/page.css"},
		{"reference.css", style, web, "web/reference.css"},
		{"night.css", style, web, "web/night.css"},
		{"reference.js", script, web, "web/reference.js"},
		{"start.css", style, web, "web/start.css"},
		{"start.js", script, web, "web/start.js"},
		{"swagger-ui.css", style, static.FS, "swagger-ui.css.gz"},
		{"swagger-ui-bundle.js", script, static.FS, "swagger-ui-bundle.js.gz"},
		{"licences.txt", plainText, web, "web/licences.txt"},
	}
}

// Resource is something that is read with GET at a path.
type Resource struct {
	Path string
	http.Handler
}

// Assets are the files that the pages of the node at places name, all below its reference page.
func Assets(places address.Map) []Resource {
	var all []Resource
	for _, a := range assets() {
		all = append(all, Resource{Path: places.Docs() + "/" + a.name, Handler: protected(a.handler())})
	}
	return all
}

func (a asset) handler() http.Handler {
	if strings.HasSuffix(a.file, packedForm) {
		packed := representation.NewPacked(a.mediaType, a.from, a.file)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if packed.Serve(w, r, representation.Open()) != nil {
				problem.Internal().Write(w, r)
			}
		})
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, err := fs.ReadFile(a.from, a.file)
		if err != nil {
			problem.Internal().Write(w, r)
			return
		}
		representation.New(a.mediaType, content).Serve(w, r, representation.Open())
	})
}
