module boreal.example/node

go 1.23
