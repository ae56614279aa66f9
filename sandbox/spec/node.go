package spec

// node is one object of the document; encoding sorts its members, so that the document is stable.
type node = map[string]any

// list is an array of the document.
type list = []any

func ref(name string) node { return node{"$ref": "#/components/schemas/" + name} }

func arrayOf(items node) node { return node{"type": "array", "items": items} }

func text() node { return node{"type": "string"} }

func described(schema node, description string) node {
	schema["description"] = description
	return schema
}

func texts() node { return arrayOf(ref("Text")) }

func number() node { return node{"type": "number", "format": "double"} }

func percent(description string) node {
	return node{"type": "number", "format": "double", "minimum": 0, "maximum": 100, "description": description}
}

func int32s() node { return node{"type": "integer", "format": "int32"} }

func dateTime() node { return node{"type": "string", "format": "date-time"} }

// object is an object schema. Members that it does not name are allowed: within a major version the network adds.
func object(description string, required []string, properties node) node {
	o := node{"type": "object", "properties": properties}
	if description != "" {
		o["description"] = description
	}
	if len(required) > 0 {
		o["required"] = required
	}
	return o
}

// vocabulary is a string schema with an enumeration.
func vocabulary[T ~string](description string, members ...T) node {
	v := node{"type": "string", "enum": members}
	if description != "" {
		v["description"] = description
	}
	return v
}

// join unites property maps; the later ones win.
func join(maps ...node) node {
	all := node{}
	for _, m := range maps {
		for name, schema := range m {
			all[name] = schema
		}
	}
	return all
}
