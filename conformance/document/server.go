package document

import (
	"slices"
	"strings"
)

// readServers takes servers[].url with the defaults of their variables (OAS 3.0.3 Server Object), or schemes, host and basePath of
// Swagger 2.0; without schemes the URL begins with "//", without host it is a path.
func (d *Document) readServers() {
	if d.swagger() {
		d.Servers = d.swaggerServers()
		return
	}
	list, _ := d.root["servers"].([]any)
	for _, item := range list {
		server, _ := item.(map[string]any)
		address, ok := server["url"].(string)
		if !ok {
			continue
		}
		variables, _ := server["variables"].(map[string]any)
		for _, name := range sortedKeys(variables) {
			variable, _ := variables[name].(map[string]any)
			if value := text(variable["default"]); value != "" && len(address) < 4096 {
				address = strings.ReplaceAll(address, "{"+name+"}", value)
			}
		}
		d.Servers = append(d.Servers, address)
	}
}

func (d *Document) swaggerServers() []string {
	host, base := text(d.root["host"]), text(d.root["basePath"])
	switch {
	case host == "" && base == "":
		return nil
	case host == "":
		return []string{base}
	}
	schemes := texts(d.root["schemes"])
	if len(schemes) == 0 {
		return []string{"//" + host + base}
	}
	var out []string
	for _, scheme := range schemes {
		out = append(out, scheme+"://"+host+base)
	}
	return out
}

func (d *Document) readSecurity() {
	d.Schemes = map[string]string{}
	components, _ := d.root["components"].(map[string]any)
	declared := components["securitySchemes"]
	if d.swagger() {
		declared = d.root["securityDefinitions"]
	}
	schemes, _ := declared.(map[string]any)
	for name, value := range schemes {
		scheme, _ := d.resolve(value)
		d.Schemes[name] = text(scheme["type"])
	}
	d.Security = security(d.root["security"])
}

// security reads a list of alternatives; nil when there is none. An empty alternative makes the whole requirement optional.
func security(value any) *Security {
	list, ok := value.([]any)
	if !ok {
		return nil
	}
	s := &Security{Open: len(list) == 0}
	for _, item := range list {
		alternative, ok := item.(map[string]any)
		if !ok {
			continue
		}
		if len(alternative) == 0 {
			s.Open = true
		}
		for name := range alternative {
			if !slices.Contains(s.Schemes, name) {
				s.Schemes = append(s.Schemes, name)
			}
		}
	}
	slices.Sort(s.Schemes)
	return s
}
