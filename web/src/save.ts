// Gives a file to the browser to save.
export function saveAs(name: string, content: Blob): void {
    const link = document.createElement("a"),
        address = URL.createObjectURL(content);
    link.href = address;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
}
