package probe

import (
	"net/url"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/exchange"
)

// pathVariant spells the path of a URL in another way that servers and gateways may take for the same (RFC 3986 §6.2). The
// query is kept. ok is false when the path offers no such variant.
func pathVariant(text string, c exchange.Case) (variant string, ok bool) {
	u, err := url.Parse(text)
	if err != nil {
		return "", false
	}
	path := u.EscapedPath()
	bare := strings.TrimRight(path, "/")
	slash := path[len(bare):]
	cut := strings.LastIndexByte(bare, '/') + 1
	if bare == "" {
		return "", false
	}
	switch c {
	case exchange.PathSlash:
		if path = bare; slash == "" {
			path += "/"
		}
	case exchange.PathDouble:
		path = bare[:cut] + "/" + bare[cut:] + slash
	case exchange.PathDot:
		path = bare[:cut] + "./" + bare[cut:] + slash
	case exchange.PathUpper:
		if path, ok = otherCase(bare, cut); !ok {
			return "", false
		}
		path += slash
	case exchange.PathSuffix:
		path = bare + ";x=1" + slash
	case exchange.PathExtension:
		path = bare + ".json" + slash
	case exchange.PathEncoded:
		if path, ok = encodedLetter(bare, cut); !ok {
			return "", false
		}
		path += slash
	default:
		return "", false
	}
	query := ""
	if u.RawQuery != "" {
		query = "?" + u.RawQuery
	}
	return u.Scheme + "://" + u.Host + path + query, true
}

// otherCase changes the case of the first letter of the last segment that begins with one; cut is where the last segment begins.
// Escaped bytes are left alone: their case means nothing.
func otherCase(path string, cut int) (string, bool) {
	for cut > 0 && cut < len(path) {
		if c := path[cut]; c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			return path[:cut] + string(c^0x20) + path[cut+1:], true
		}
		cut = strings.LastIndexByte(path[:cut-1], '/') + 1
	}
	return "", false
}

// encodedLetter percent-encodes the first character of the last segment, which means the same (RFC 3986 §6.2.2.2). A segment that begins with
// an escape is left alone.
func encodedLetter(path string, cut int) (string, bool) {
	if cut >= len(path) || !isUnreserved(path[cut]) {
		return "", false
	}
	return path[:cut] + percent(path[cut]) + path[cut+1:], true
}

// isUnreserved reports letters and digits, which need no encoding.
func isUnreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// pair is one query parameter.
type pair struct{ name, value string }

// withQuery gives parameters to a URL, percent-encoded: in the place of one of the same name, which a call has when it requires it, else
// after those that are there. Parameters come in the order given.
func withQuery(text string, pairs ...pair) string {
	address, query, asked := strings.Cut(text, "?")
	var fields []string
	if asked && query != "" {
		fields = strings.Split(query, "&")
	}
	for _, p := range pairs {
		field := url.QueryEscape(p.name) + "=" + url.QueryEscape(p.value)
		if i := slices.IndexFunc(fields, p.names); i >= 0 {
			fields[i] = field
		} else {
			fields = append(fields, field)
		}
	}
	if len(fields) == 0 {
		return text
	}
	return address + "?" + strings.Join(fields, "&")
}

// names tells a field of a query that is of the parameter.
func (p pair) names(field string) bool {
	name, _, _ := strings.Cut(field, "=")
	plain, err := url.QueryUnescape(name)
	return err == nil && plain == p.name
}
