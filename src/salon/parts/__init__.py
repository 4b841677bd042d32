"""Parts of the application, each the capabilities of one preset. `salon.app` puts them together."""
