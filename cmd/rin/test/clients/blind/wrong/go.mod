module clients.example/wrong

go 1.25
