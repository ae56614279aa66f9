module blind3

go 1.26
