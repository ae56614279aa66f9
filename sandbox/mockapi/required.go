package mockapi

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// addRequiredHeaders adds the header fields that HTTP asks for in answers with the status, where the document does not describe them. value is the
// content of the answer.
func (a *API) addRequiredHeaders(m *answer, q request, value any) {
	add := func(name, text string) {
		if m.header.Get(name) == "" {
			m.header.Set(name, text)
		}
	}
	switch m.status {
	case http.StatusCreated:
		add("Location", a.createdURL(q, value))
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		add("Location", a.redirectTarget(q))
	case http.StatusPartialContent:
		add("Content-Range", fmt.Sprintf("bytes 0-%d/%d", max(len(m.content)-1, 0), max(len(m.content), 1)))
	case http.StatusNotModified:
		add("Etag", `W/"described"`)
	case http.StatusUnauthorized:
		add("WWW-Authenticate", `Bearer realm="sandbox"`)
	case http.StatusProxyAuthRequired:
		add("Proxy-Authenticate", `Basic realm="sandbox"`)
	case http.StatusMethodNotAllowed:
		allowed := slices.DeleteFunc(q.operation.resource.methods(), func(method string) bool {
			o := q.operation.resource.operation(method)
			return o != nil && o.status == http.StatusMethodNotAllowed
		})
		add("Allow", strings.Join(allowed, ", "))
	case http.StatusRequestedRangeNotSatisfiable:
		add("Content-Range", "bytes */1")
	case http.StatusUpgradeRequired:
		add("Upgrade", "HTTP/2.0")
		add("Connection", "Upgrade")
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		add("Retry-After", "1")
	}
}

// hasNoContent reports whether answers with a status have no content (RFC 9110 §6.4.1, §15.3.6).
func hasNoContent(status int) bool {
	return status < 200 || status == http.StatusNoContent || status == http.StatusResetContent || status == http.StatusNotModified
}

// isLocation reports whether a header is a Location. It names a resource of the API, so its value is computed and not drawn.
func isLocation(h Parameter) bool { return canonical(h.Name) == "location" }

// location returns the Location of an answer whose document describes one: that of its first example, else the URL of a resource of the API.
func (a *API) location(h Parameter, q request, value any) string {
	if examples := a.examplesAt(h.Pointer, h.Schema); len(examples) > 0 {
		return headerText(examples[0])
	}
	switch status := q.operation.status; {
	case status == http.StatusCreated:
		return a.createdURL(q, value)
	case status >= 300 && status < 400:
		return a.redirectTarget(q)
	}
	return q.self()
}

// createdURL returns the URL of the resource that a request has created: a detail below its path if the content has an id, else its own path.
func (a *API) createdURL(q request, value any) string {
	if q.createdID != "" {
		return q.self() + "/" + url.PathEscape(q.createdID)
	}
	if detail, member := a.detailBelow(q); detail != nil {
		object, _ := value.(map[string]any)
		if id := plainText(object[member]); id != "" {
			return q.self() + "/" + url.PathEscape(id)
		}
	}
	return q.self()
}

// detailBelow returns the resource at the path of a request with one more parameter, and the member of the answer that has its id; nil without one.
func (a *API) detailBelow(q request) (detail *resource, member string) {
	segments := q.operation.resource.segments
	for _, r := range a.all {
		end := lastSegment(r.segments)
		if len(r.segments) == len(segments)+1 && isPrefix(segments, r.segments) && isParameter(end) {
			if member, _ = a.identify(&list{item: q.media.Schema, parameter: strings.Trim(end, "{}")}); member != "" {
				return r, member
			}
		}
	}
	return nil, ""
}

// redirectTarget returns the URL to which a redirect leads. It is the URL of the nearest GET operation above the path of the request that
// answers 200, else of the first such operation without path parameters, else of the document.
func (a *API) redirectTarget(q request) string {
	succeeds := func(r *resource) bool {
		o := r.operations[http.MethodGet]
		return o != nil && o.fault == nil && o.status == http.StatusOK && r != q.operation.resource
	}
	for n := len(q.path) - 1; n > 0; n-- {
		for _, r := range a.all {
			if len(r.segments) == n && succeeds(r) && isPrefix(r.segments, q.operation.resource.segments) {
				above := q
				above.path = q.path[:n]
				return above.self()
			}
		}
	}
	for _, r := range a.all {
		if succeeds(r) && !strings.Contains(r.path, "{") {
			return selfOrigin + r.path
		}
	}
	return selfOrigin + a.ownPath
}
