package exchange

// RegistryFacts are what a registry document says beyond the node's entry. The document as a whole is not kept.
type RegistryFacts struct {
	// Entries counts the entries of the document.
	Entries int `json:"entries"`
	// Twins are the other entries with the same id, the first few of them.
	Twins []RegistryTwin `json:"twins,omitempty"`
	// Repeated are member names that the document itself holds twice.
	Repeated []string `json:"repeated,omitempty"`
}

// RegistryTwin is another entry with the node's id, by its URLs.
type RegistryTwin struct {
	TokenURL string `json:"tokenUrl,omitempty"`
	InfoURL  string `json:"infoUrl,omitempty"`
}

// Registry returns a copy of the facts with every known secret replaced.
func (r *Redactor) Registry(f RegistryFacts) RegistryFacts {
	f.Twins, f.Repeated = list(f.Twins), list(f.Repeated)
	for i, t := range f.Twins {
		f.Twins[i] = RegistryTwin{r.Text(t.TokenURL), r.Text(t.InfoURL)}
	}
	for i, name := range f.Repeated {
		f.Repeated[i] = r.Text(name)
	}
	return f
}

func (f RegistryFacts) portable() RegistryFacts {
	f.Twins, f.Repeated = list(f.Twins), list(f.Repeated)
	for i, t := range f.Twins {
		f.Twins[i] = RegistryTwin{portable(t.TokenURL), portable(t.InfoURL)}
	}
	for i, name := range f.Repeated {
		f.Repeated[i] = portable(name)
	}
	return f
}
