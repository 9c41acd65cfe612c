module github.com/bailey-go/bailey/environment/kubernetes/gvisor

go 1.26.3

tool gvisor.dev/gvisor/runsc

require gvisor.dev/gvisor v0.0.0-20260905035102-160fafc42237
