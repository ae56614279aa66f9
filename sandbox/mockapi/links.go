package mockapi

import (
	"bytes"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/sandbox/content"
)

// selfOrigin is a placeholder in prepared answers. It is replaced by the URL of the space when an answer is sent. RFC 2606 reserves its domain.
const selfOrigin = "http://self.rin-sandbox.invalid"

// maxServers limits the servers of a document whose URLs are replaced.
const maxServers = 50

// server is a server that the document names, by its URL.
type server struct {
	url string
	// path is the path of the URL below the node's service prefix.
	path string
}

// findServers collects the servers of the document, its paths and its operations. A longer URL comes before a shorter one.
func (a *API) findServers() {
	a.servers = []server{{url: selfOrigin}}
	if a.options.Recorded != nil {
		for _, base := range a.options.Recorded.Bases {
			a.servers = append(a.servers, server{strings.TrimRight(base, "/"), belowPrefix(a.prefix, a.document.Server)})
		}
	}
	a.addServers(a.document.Root)
	paths, _ := a.document.Root["paths"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(paths)) {
		path, _ := paths[name].(map[string]any)
		a.addServers(path)
		for _, method := range methods() {
			operation, _ := path[strings.ToLower(method)].(map[string]any)
			a.addServers(operation)
		}
	}
	slices.SortFunc(a.servers, func(x, y server) int {
		if len(x.url) != len(y.url) {
			return len(y.url) - len(x.url)
		}
		return strings.Compare(x.url, y.url)
	})
	a.servers = slices.Compact(a.servers)
}

func (a *API) addServers(holder map[string]any) {
	servers, _ := holder["servers"].([]any)
	for _, entry := range servers {
		entry, _ := entry.(map[string]any)
		u, err := url.Parse(serverURL(entry))
		if err == nil && len(a.servers) < maxServers && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
			path := strings.TrimRight(u.Path, "/")
			a.servers = append(a.servers, server{u.Scheme + "://" + u.Host + path, belowPrefix(a.prefix, path)})
		}
	}
}

// namesServer reports whether an answer has the URL of a server of the document, or of the sandbox itself.
func (a *API) namesServer(m *answer) bool {
	return slices.ContainsFunc(a.servers, func(s server) bool {
		for _, values := range m.header {
			if slices.ContainsFunc(values, func(value string) bool { return strings.Contains(value, s.url) }) {
				return true
			}
		}
		return bytes.Contains(m.content, []byte(s.url))
	})
}

// localKey identifies an answer whose links lead to a base URL.
type localKey struct {
	answer *answer
	base   string
}

// localize returns an answer whose links lead to the URL of the space, instead of the servers that the document names.
func (a *API) localize(m *answer, s Space, media Media, r *http.Request) *answer {
	if !m.links {
		return m
	}
	base := s.Base
	if s.Origin != nil {
		base = s.Origin(r) + s.Base
	}
	local, err := a.localAnswers.Get(localKey{m, base}, func() (*answer, error) {
		result := *m
		result.header = http.Header{}
		for name, values := range m.header {
			for _, value := range values {
				result.header.Add(name, a.relocate(value, base))
			}
		}
		if m.body == nil {
			return &result, nil
		}
		text := []byte(a.relocate(string(m.content), base))
		if FormOf(m.media) == FormJSON && media.Schema != "" {
			if value, err := decodeJSON(text); err != nil || !a.fits(media.Schema, value) {
				return &result, nil // the schema admits only the URLs of the document's servers
			}
		}
		result.content, result.body = text, content.NewBody(m.media, text)
		return &result, nil
	})
	if err != nil {
		return m
	}
	return local
}

// relocate replaces the URLs of servers in a text, and [selfOrigin], with a base URL.
func (a *API) relocate(text, base string) string {
	var b strings.Builder
	for {
		at, found := -1, server{}
		for _, s := range a.servers {
			if i := indexURL(text, s.url); i >= 0 && (at < 0 || i < at) {
				at, found = i, s
			}
		}
		if at < 0 {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:at] + base + found.path)
		text = text[at+len(found.url):]
	}
}

// indexURL returns the index of the first URL in a text that is address, or is address with more segments after it; -1
// without such a URL.
func indexURL(text, address string) int {
	for from := 0; ; {
		i := strings.Index(text[from:], address)
		if i < 0 {
			return -1
		}
		from += i
		if endsURL(text[from+len(address):]) {
			return from
		}
		from += len(address)
	}
}

// endsURL reports whether a text after the URL of a server does not continue its host or its last segment.
func endsURL(after string) bool {
	return after == "" || strings.ContainsAny(after[:1], "/?#\"'<>(),; \\\t\r\n}]")
}

// pageLinks returns the URLs of the pages around the one that a request asks for, by their relation; none if the list has no pages.
func (q request) pageLinks(total int) map[string]string {
	l := q.operation.list
	if l == nil || total < 0 || l.shape == inSingle && q.recorded == nil {
		return nil
	}
	from, to, size := q.pageBounds(total)
	p, hasCursor := q.paging(), q.recorded != nil && q.recorded.Parameter != ""
	if size <= 0 || p.offset.parameter == "" && p.number.parameter == "" && !hasCursor {
		return nil
	}
	links := map[string]string{"first": q.pageURL(0, size)}
	if to < total {
		links["next"] = q.pageURL(to, size)
	}
	if from > 0 {
		links["prev"] = q.pageURL(max(0, from-size), size)
	}
	return links
}

// pageURL returns the URL of the page that begins with a record.
func (q request) pageURL(from, size int) string {
	linkEscaper := strings.NewReplacer("<", "%3C", ">", "%3E", `"`, "%22") // the client may have left these unescaped in its query
	p := q.paging()
	changed, value := p.offset, strconv.Itoa(from)
	switch {
	case q.recorded != nil && q.recorded.Parameter != "":
		changed, value = pageParameter{parameter: q.recorded.Parameter}, cursorOf(from)
	case changed.parameter == "":
		changed, value = p.number, strconv.Itoa(p.first+from/size)
	}
	var query []string
	for _, pair := range q.query {
		if pair.Name != changed.name() && (pair.Name != p.number.name() || p.number.parameter == "") {
			query = append(query, url.QueryEscape(pair.Name)+"="+linkEscaper.Replace(pair.Value))
		}
	}
	slices.Sort(query) // the answer does not depend on the order of the parameters
	query = append(query, url.QueryEscape(changed.name())+"="+value)
	return q.self() + "?" + strings.Join(query, "&")
}

// self returns the URL of the request without its query.
func (q request) self() string {
	path := selfOrigin
	for _, segment := range q.path {
		path += "/" + url.PathEscape(segment)
	}
	return path
}

// name returns the name with which a request gives the parameter.
func (k pageParameter) name() string {
	if k.member == "" {
		return k.parameter
	}
	return k.parameter + "[" + k.member + "]"
}

// linkField returns the Link field of an answer (RFC 8288): the pages around a list's page; "" if there are none.
func (q request) linkField(total int) string {
	links := q.pageLinks(total)
	var all []string
	for _, relation := range []string{"next", "prev", "first"} {
		if target, ok := links[relation]; ok {
			all = append(all, "<"+target+`>; rel="`+relation+`"`)
		}
	}
	return strings.Join(all, ", ")
}
