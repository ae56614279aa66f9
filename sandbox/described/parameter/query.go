package parameter

import (
	"strings"
)

// query reads the styles of the query. An empty value counts as absent where nothing is required, as nodes of the network have it.
func (p Parameter) query(pairs []Pair) (any, bool, error) {
	switch {
	case p.Style == "deepObject":
		return p.deep(pairs)
	case p.Style == "form" && p.Explode && p.Kind.object():
		return p.members(pairs)
	}
	var texts []string
	for _, pair := range pairs {
		if pair.Name == p.Name {
			texts = append(texts, pair.Value)
		}
	}
	switch {
	case len(texts) == 0:
		return nil, false, nil
	case len(texts) == 1 && texts[0] == "" && !p.Required:
		return nil, false, nil
	case len(texts) > 1 && !(p.Explode && p.Kind.list()):
		return nil, true, malformed("it once, it is given more than once")
	case p.Media != "":
		return p.media(texts[0], queryUnescape)
	case !p.Kind.list() && !p.Kind.object():
	case p.Explode && len(texts) > 1:
	case p.Explode && p.Style == "form":
		// One value of an exploded list is a list of one, commas included.
	default:
		texts = p.delimited(texts[0])
	}
	texts, ok := decoded(texts, queryUnescape)
	if !ok {
		return nil, true, malformed("percent-encoded text")
	}
	return p.assemble(texts)
}

// delimited takes a raw value apart before its escapes are removed: an escaped delimiter belongs to an item, but for blanks and pipes,
// which no URL holds as they are.
func (p Parameter) delimited(text string) []string {
	switch p.Style {
	case "spaceDelimited":
		return strings.Split(strings.NewReplacer("+", "%20", " ", "%20").Replace(text), "%20")
	case "pipeDelimited":
		return strings.Split(strings.NewReplacer("%7C", "|", "%7c", "|").Replace(text), "|")
	}
	return strings.Split(text, ",")
}

// deep reads "filter[name]=value", also of members within members.
func (p Parameter) deep(pairs []Pair) (any, bool, error) {
	object, given := map[string]any{}, false
	for _, pair := range pairs {
		rest, ok := strings.CutPrefix(pair.Name, p.Name+"[")
		if !ok {
			continue
		}
		rest, closed := strings.CutSuffix(rest, "]")
		if !closed {
			return nil, true, malformed("an object, written " + p.Name + "[name]=value")
		}
		given = true
		plain, err := queryUnescape(pair.Value)
		if err != nil {
			return nil, true, malformed("percent-encoded text")
		}
		if !p.Kind.put(object, strings.Split(rest, "]["), plain) {
			return nil, true, malformed("an object, written " + p.Name + "[name]=value, each name once")
		}
	}
	if !given {
		return nil, false, nil
	}
	return object, true, nil
}

// put places a text at the end of a way of names; a member that is an array may come several times.
func (k *Kind) put(object map[string]any, way []string, text string) bool {
	if len(way) > maxNesting {
		return false
	}
	var member *Kind
	if k != nil {
		member = k.Members[way[0]]
	}
	old, there := object[way[0]]
	if len(way) > 1 && !(len(way) == 2 && way[1] == "" && member.list()) {
		inner, ok := old.(map[string]any)
		if there && !ok {
			return false
		}
		if !there {
			inner = map[string]any{}
			object[way[0]] = inner
		}
		return member.put(inner, way[1:], text)
	}
	list, isList := old.([]any)
	switch {
	case there && isList:
		object[way[0]] = append(list, member.Item.read(text))
	case there:
		return false
	default:
		object[way[0]] = member.value(text)
	}
	return true
}

// members reads an exploded object of the form style: each of its members is a parameter of its own.
func (p Parameter) members(pairs []Pair) (any, bool, error) {
	object, given := map[string]any{}, false
	for _, pair := range pairs {
		member, known := p.Kind.Members[pair.Name]
		if !known {
			continue
		}
		plain, err := queryUnescape(pair.Value)
		if err != nil {
			return nil, true, malformed("percent-encoded text")
		}
		given = true
		if !(&Kind{Members: map[string]*Kind{pair.Name: member}}).put(object, []string{pair.Name}, plain) {
			return nil, true, malformed("each member once")
		}
	}
	if !given {
		return nil, false, nil
	}
	return object, true, nil
}
