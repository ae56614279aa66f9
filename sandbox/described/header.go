package described

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/sandbox/described/document"
)

// headers draws the documented headers of an answer.
func (a *API) headers(to http.Header, q asked, total int) error {
	for _, h := range q.operation.headers {
		value, err := a.samples.Value(h.Schema, q.drawn()+" "+h.Name)
		if h.Schema == "" {
			value, err = "sample", nil
		}
		if err != nil {
			return err
		}
		if total >= 0 && slices.Contains([]string{"xtotalcount", "totalcount", "xtotal"}, canonical(h.Name)) && a.fits(h.Schema, total) {
			value = total
		}
		if text, ok := written(h, value); ok {
			to.Set(h.Name, text)
		}
	}
	return nil
}

// written writes a value as a header field has it (style simple); ok is false for one that no field may hold (RFC 9110 §5.5).
func written(h document.Header, value any) (string, bool) {
	text := ""
	switch v := value.(type) {
	case []any:
		texts := make([]string, len(v))
		for i, item := range v {
			texts[i] = scalar(item)
		}
		text = strings.Join(texts, ",")
	case map[string]any:
		between := ","
		if h.Explode {
			between = "="
		}
		var texts []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			texts = append(texts, name+between+scalar(v[name]))
		}
		text = strings.Join(texts, ",")
	default:
		text = scalar(v)
	}
	if h.Media != "" {
		encoded, err := json.Marshal(value)
		if err != nil {
			return "", false
		}
		text = string(encoded)
	}
	visible := strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) < 0
	return text, visible && strings.TrimSpace(text) == text
}

func scalar(value any) string {
	if number, ok := value.(int); ok {
		return strconv.Itoa(number)
	}
	if text := plain(value); text != "" || value == nil || value == "" {
		return text
	}
	encoded, _ := json.Marshal(value)
	return string(encoded)
}
