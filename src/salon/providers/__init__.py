"""All that reaches outside Salon: embedders, vector stores, model servers."""
