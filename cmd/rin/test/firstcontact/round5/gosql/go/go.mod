module danube.invalid/funding-node

go 1.26
